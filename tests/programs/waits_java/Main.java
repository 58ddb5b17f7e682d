import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads of a JVM that wait in known measure; a line on standard input starts them. Two hold a
 * monitor in turn and compute, so that one of them waits for it at any time; one parks. Each says
 * what it did, in nanoseconds, and waits again. The virtual machine itself measures how long they
 * were blocked, in milliseconds.
 */
public final class Main {
    private static final int TURNS = 40;
    private static final long HOLD_NS = 10_000_000;
    /** Clock reads of a thread that computes are closer to each other than this. */
    private static final long PAUSE_NS = 200_000;
    private static final Object MONITOR = new Object();

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final CountDownLatch BEGIN = new CountDownLatch(1);
    private static final CountDownLatch END = new CountDownLatch(1);
    private static final StringBuilder SAID = new StringBuilder();
    private static final CountDownLatch DONE = new CountDownLatch(3);

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        THREADS.setThreadContentionMonitoringEnabled(true);
        Thread parked = new Thread(Main::park, "parked");
        for (Thread thread : new Thread[] {
            new Thread(Main::takeTurns, "holder-1"), new Thread(Main::takeTurns, "holder-2"), parked
        }) {
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("ready");
        System.in.read();
        BEGIN.countDown();
        Thread.sleep(TURNS * HOLD_NS / 1_000_000);
        LockSupport.unpark(parked);
        DONE.await();
        System.out.println("{" + SAID.substring(2) + "}");
        while (System.in.read() >= 0) {
            Thread.onSpinWait();
        }
        END.countDown();
    }

    private static void takeTurns() {
        await(BEGIN);
        long began = System.nanoTime();
        long paused = 0;
        for (int turn = 0; turn < TURNS; turn++) {
            synchronized (MONITOR) {
                long last = System.nanoTime();
                long end = last + HOLD_NS;
                while (last < end) {
                    Thread.onSpinWait();
                    long now = System.nanoTime();
                    // The kernel ran another thread, or the machine stopped all threads.
                    paused += now - last > PAUSE_NS ? now - last : 0;
                    last = now;
                }
            }
        }
        ThreadInfo info = THREADS.getThreadInfo(Thread.currentThread().getId());
        say(System.nanoTime() - began, info.getBlockedTime() * 1_000_000, paused);
        await(END);
    }

    private static void park() {
        await(BEGIN);
        long began = System.nanoTime();
        LockSupport.park();
        long waited = System.nanoTime() - began;
        say(waited, waited, 0);
        await(END);
    }

    private static void say(long wall, long waited, long paused) {
        long cpu = THREADS.getCurrentThreadCpuTime();
        synchronized (SAID) {
            SAID.append(String.format(
                    ", \"%s\": {\"wall_ns\": %d, \"waited_ns\": %d, \"paused_ns\": %d,"
                            + " \"cpu_ns\": %d}",
                    Thread.currentThread().getName(), wall, waited, paused, cpu));
        }
        DONE.countDown();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
