/** Lets tidscope steer a thread pool of this program; see {@link tidscope.agent.Agent}. */
package tidscope.agent;
