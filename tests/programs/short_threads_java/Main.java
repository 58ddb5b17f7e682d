import java.util.Scanner;
import java.util.concurrent.Semaphore;

/** Threads that live for a moment; see short_threads.c. */
final class Main {
    private Main() {}

    public static void main(String[] arguments) throws InterruptedException {
        System.out.println("ready");
        Scanner input = new Scanner(System.in);
        while (input.hasNext()) {
            int count = input.nextInt();
            long ns = input.nextLong();
            Semaphore room = new Semaphore(8);
            for (int i = 0; i < count; i++) {
                room.acquire();
                Thread thread = new Thread(() -> {
                    long until = System.nanoTime() + ns;
                    while (System.nanoTime() < until) {
                        Thread.onSpinWait();
                    }
                    room.release();
                });
                thread.start();
            }
            room.acquire(8);
            System.out.println("done");
        }
    }
}
