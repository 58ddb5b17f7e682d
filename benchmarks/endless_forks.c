/* Starts and ends processes as fast as it can, one at a time: endless_forks
 * Ends with its standard input. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	char byte;

	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) < 0) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		if (child < 0)
			return 1;
		waitpid(child, NULL, 0);
	}
	return 0;
}
