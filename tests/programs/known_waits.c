/* Threads that wait, each for one thing, and say how long by CLOCK_MONOTONIC.
 *
 * A thread does nothing but its own call, ROUNDS times, and adds up the time around it: asleep, in
 * a run queue, and the little that it runs; and the time of all, with what prepares it. "g" on standard input lets all begin; each says what it
 * waited when it has done, one line of JSON. Before and after it is parked in poll(2), those that
 * poll themselves on a semaphore. At "s" 300 threads live for a moment,
 * one after another. "q" or the end of input ends the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 25, PAUSE_NS = 3000000, BLOCK = 1 << 20, BLOCKS = 16, SHORT = 300 };

static const char *path;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static int checked(const char *what, long result) {
  if (result < 0) die(what);
  return (int)result;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pause_once(void) {
  struct timespec time = {.tv_nsec = PAUSE_NS};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR) {}
}

/* Somebody else's side: what ends the wait, after a pause each time. Its threads are "other-side". */
struct side {
  void (*act)(void *what);
  void *what;
  int rounds;
};

static void *other_side(void *argument) {
  struct side *side = argument;
  prctl(PR_SET_NAME, "other-side");
  for (int i = 0; i < side->rounds; i++) {
    pause_once();
    side->act(side->what);
  }
  return NULL;
}

static void against(void (*act)(void *what), void *what, int rounds) {
  struct side *side = malloc(sizeof *side);
  pthread_t thread;
  *side = (struct side){act, what, rounds};
  if (pthread_create(&thread, NULL, other_side, side)) die("pthread_create");
  pthread_detach(thread);
}

static int64_t in_call(void (*call)(void *what), void *what) {
  int64_t sum = 0;
  for (int i = 0; i < ROUNDS; i++) {
    int64_t before = now_ns();
    call(what);
    sum += now_ns() - before;
  }
  return sum;
}

static void write_byte(void *what) { checked("write", write(*(int *)what, "x", 1)); }
static void read_byte(void *what) {
  char byte;
  checked("read", read(*(int *)what, &byte, 1));
}
static void post(void *what) { sem_post(what); }
static void await(void *what) {
  while (sem_wait(what)) {}
}

static int64_t wait_futex(void) {
  sem_t *sem = malloc(sizeof *sem);
  sem_init(sem, 0, 0);
  against(post, sem, ROUNDS);
  return in_call(await, sem);
}

static void sleep_call(void *what) {
  (void)what;
  pause_once();
}
static int64_t wait_sleep(void) { return in_call(sleep_call, NULL); }

static int64_t wait_pipe(void) {
  int *ends = malloc(2 * sizeof *ends);
  checked("pipe", pipe(ends));
  against(write_byte, &ends[1], ROUNDS);
  return in_call(read_byte, &ends[0]);
}

static void write_event(void *what) { checked("eventfd", eventfd_write(*(int *)what, 1)); }
static void read_event(void *what) {
  eventfd_t value;
  checked("eventfd", eventfd_read(*(int *)what, &value));
}
static int64_t wait_eventfd(void) {
  int *event = malloc(sizeof *event);
  *event = checked("eventfd", eventfd(0, EFD_SEMAPHORE));
  against(write_event, event, ROUNDS);
  return in_call(read_event, event);
}

static void epoll_call(void *what) {
  struct epoll_event event;
  checked("epoll_wait", epoll_wait(*(int *)what, &event, 1, PAUSE_NS / 1000000));
}
static int64_t wait_epoll(void) {
  int set = checked("epoll_create", epoll_create1(0));
  return in_call(epoll_call, &set);
}

static void select_call(void *what) {
  struct timeval time = {.tv_usec = PAUSE_NS / 1000};
  (void)what;
  checked("select", select(0, NULL, NULL, NULL, &time));
}
static int64_t wait_select(void) { return in_call(select_call, NULL); }

static void receive(void *what) {
  char byte;
  checked("recv", recv(*(int *)what, &byte, 1, 0));
}
static int64_t wait_receive(void) {
  int *ends = malloc(2 * sizeof *ends);
  checked("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
  against(write_byte, &ends[1], ROUNDS);
  return in_call(receive, &ends[0]);
}

/* Read with read(2): the kind of file shows that it is a socket. */
static int64_t wait_read_socket(void) {
  int *ends = malloc(2 * sizeof *ends);
  checked("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  against(write_byte, &ends[1], ROUNDS);
  return in_call(read_byte, &ends[0]);
}

/* The file in the first argument is what is waited for, although the call also writes. */
static int way[2];
static void splice_byte(void *what) {
  char byte;
  checked("splice", splice(*(int *)what, NULL, way[1], NULL, 1, 0));
  checked("read", read(way[0], &byte, 1));
}
static int64_t wait_splice(void) {
  int *ends = malloc(2 * sizeof *ends);
  checked("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  checked("pipe", pipe(way));
  against(write_byte, &ends[1], ROUNDS);
  return in_call(splice_byte, &ends[0]);
}

/* The other end is what is waited for: the pipe is full, and the file is not read. */
static int full[2], source;
static void splice_file(void *what) {
  loff_t at = 0;
  (void)what;
  checked("splice", splice(source, &at, full[1], NULL, 4096, 0));
}
static void take_page(void *what) {
  char page[4096];
  (void)what;
  checked("read", read(full[0], page, sizeof page));
}
static int64_t wait_full(void) {
  char page[4096] = {0};
  checked("pipe", pipe(full));
  source = checked("memfd_create", memfd_create("source", 0));
  int room = checked("fcntl", fcntl(full[1], F_GETPIPE_SZ));
  checked("write", write(source, page, sizeof page));
  for (int filled = 0; filled < room; filled += sizeof page)
    checked("write", write(full[1], page, sizeof page));
  against(take_page, NULL, ROUNDS);
  return in_call(splice_file, NULL);
}

/* The pipe is not empty: the socket is full. */
static int sender;
static sem_t is_full;
static void splice_socket(void *what) {
  checked("splice", splice(*(int *)what, NULL, sender, NULL, 1, 0));
}
static void drain(void *what);
static void drain_full(void *what) {
  while (sem_wait(&is_full)) {}
  pause_once();
  drain(what);
}
static int64_t wait_splice_send(void) {
  int *pair = malloc(2 * sizeof *pair), *ends = malloc(2 * sizeof *ends);
  int64_t sum = 0;
  checked("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  checked("pipe", pipe(ends));
  sender = pair[0];
  sem_init(&is_full, 0, 0);
  against(drain_full, &pair[1], ROUNDS);
  for (int i = 0; i < ROUNDS; i++) {
    while (send(sender, "x", 1, MSG_DONTWAIT) > 0) {}
    checked("write", write(ends[1], "x", 1));
    sem_post(&is_full);
    int64_t before = now_ns();
    splice_socket(&ends[0]);
    sum += now_ns() - before;
  }
  return sum;
}

static uint32_t words[2];
static void wait_for_either(void *what) {
  struct futex_waitv both[2] = {{.uaddr = (uintptr_t)&words[0], .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG},
                                {.uaddr = (uintptr_t)&words[1], .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG}};
  (void)what;
  while (!__atomic_load_n(&words[1], __ATOMIC_ACQUIRE))
    if (syscall(SYS_futex_waitv, both, 2, 0, NULL, 0) < 0 && errno != EAGAIN && errno != EINTR)
      die("futex_waitv");
  __atomic_store_n(&words[1], 0, __ATOMIC_RELEASE);
}
static void wake_second(void *what) {
  (void)what;
  __atomic_store_n(&words[1], 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &words[1], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  while (__atomic_load_n(&words[1], __ATOMIC_ACQUIRE)) sched_yield();
}
static int64_t wait_either(void) {
  against(wake_second, NULL, ROUNDS);
  return in_call(wait_for_either, NULL);
}

static char block[1 << 12];
static void fill(int socket) {
  while (send(socket, block, sizeof block, MSG_DONTWAIT) > 0) {}
}
static void drain(void *what) {
  char read[sizeof block];
  while (recv(*(int *)what, read, sizeof read, MSG_DONTWAIT) > 0) {}
}
/* Posted each time that the socket is full, however slow either side is. */
static sem_t is_filled;
static void drain_filled(void *what) {
  while (sem_wait(&is_filled)) {}
  pause_once();
  drain(what);
}
static int64_t wait_send(void) {
  int64_t sum = 0;
  int *ends = malloc(2 * sizeof *ends);
  sem_init(&is_filled, 0, 0);
  checked("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  against(drain_filled, &ends[1], ROUNDS);
  for (int i = 0; i < ROUNDS; i++) {
    fill(ends[0]);
    sem_post(&is_filled);
    int64_t before = now_ns();
    checked("send", send(ends[0], block, sizeof block, 0));
    sum += now_ns() - before;
  }
  return sum;
}

static struct sockaddr_in address;

static void connect_once(void *what) {
  int one = checked("socket", socket(AF_INET, SOCK_STREAM, 0));
  (void)what;
  checked("connect", connect(one, (struct sockaddr *)&address, sizeof address));
  close(one);
}
static void accept_call(void *what) { close(checked("accept", accept(*(int *)what, NULL, NULL))); }
static int64_t wait_accept(void) {
  int *door = malloc(sizeof *door);
  socklen_t length = sizeof address;
  *door = checked("socket", socket(AF_INET, SOCK_STREAM, 0));
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  checked("bind", bind(*door, (struct sockaddr *)&address, sizeof address));
  checked("listen", listen(*door, 100));
  checked("getsockname", getsockname(*door, (struct sockaddr *)&address, &length));
  against(connect_once, NULL, ROUNDS);
  return in_call(accept_call, door);
}

/* The queue of a Unix socket is full: connect waits until one of it is accepted. */
static struct sockaddr_un unix_address = {.sun_family = AF_UNIX};
static int unix_door;
static void accept_one(void *what) {
  (void)what;
  close(checked("accept", accept(unix_door, NULL, NULL)));
}
static void connect_unix(void *what) {
  int one = checked("socket", socket(AF_UNIX, SOCK_STREAM, 0));
  (void)what;
  checked("connect", connect(one, (struct sockaddr *)&unix_address, sizeof unix_address));
}
static int64_t wait_connect(void) {
  snprintf(unix_address.sun_path + 1, 60, "known-waits-%d", (int)getpid());
  unix_door = checked("socket", socket(AF_UNIX, SOCK_STREAM, 0));
  checked("bind", bind(unix_door, (struct sockaddr *)&unix_address, sizeof unix_address));
  checked("listen", listen(unix_door, 0));
  connect_unix(NULL);
  against(accept_one, NULL, ROUNDS);
  return in_call(connect_unix, NULL);
}

static void signal_call(void *what) {
  struct timespec time = {.tv_nsec = PAUSE_NS};
  sigset_t none;
  (void)what;
  sigemptyset(&none);
  sigaddset(&none, SIGUSR2);
  sigtimedwait(&none, NULL, &time);
}
static int64_t wait_signal(void) { return in_call(signal_call, NULL); }

static int64_t wait_child(void) {
  int64_t sum = 0;
  for (int i = 0; i < ROUNDS; i++) {
    int64_t before = now_ns();
    pid_t child = checked("fork", fork());
    if (!child) {
      pause_once();
      _exit(0);
    }
    checked("waitpid", waitpid(child, NULL, __WALL));
    sum += now_ns() - before;
  }
  return sum;
}

/* A lock of a file, which the other side gives up as often as it is held. */
static sem_t held;
static void unlock_held(void *what) {
  while (sem_wait(&held)) {}
  pause_once();
  checked("flock", flock(*(int *)what, LOCK_UN));
}
static int64_t wait_flock(void) {
  int64_t sum = 0;
  int own = checked(path, open(path, O_RDONLY | O_CLOEXEC));
  int *other = malloc(sizeof *other);
  *other = checked(path, open(path, O_RDONLY | O_CLOEXEC));
  sem_init(&held, 0, 0);
  against(unlock_held, other, ROUNDS);
  for (int i = 0; i < ROUNDS; i++) {
    checked("flock", flock(*other, LOCK_EX));
    sem_post(&held);
    int64_t before = now_ns();
    checked("flock", flock(own, LOCK_EX));
    sum += now_ns() - before;
    checked("flock", flock(own, LOCK_UN));
  }
  return sum;
}

/* A timer of io_uring, where there is one; else it has nothing to wait for. */
static int ring;
static unsigned *ring_tail, *ring_array, ring_mask;
static struct io_uring_sqe *ring_entries;
static void ring_call(void *what) {
  unsigned tail = *ring_tail;
  ring_entries[tail & ring_mask] =
      (struct io_uring_sqe){.opcode = IORING_OP_TIMEOUT, .fd = -1, .addr = (uintptr_t)what, .len = 1};
  ring_array[tail & ring_mask] = tail & ring_mask;
  __atomic_store_n(ring_tail, tail + 1, __ATOMIC_RELEASE);
  checked("io_uring_enter", syscall(SYS_io_uring_enter, ring, 1, tail + 1, IORING_ENTER_GETEVENTS, NULL, 0));
}
static int64_t wait_ring(void) {
  struct io_uring_params with = {.flags = 0};
  struct __kernel_timespec *time = malloc(sizeof *time);
  *time = (struct __kernel_timespec){.tv_nsec = PAUSE_NS};
  ring = (int)syscall(SYS_io_uring_setup, 2 * ROUNDS, &with);
  if (ring < 0) return 0;
  int flags = PROT_READ | PROT_WRITE;
  size_t length = with.sq_off.array + with.sq_entries * sizeof(unsigned);
  char *queue = mmap(NULL, length, flags, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  ring_entries = mmap(NULL, with.sq_entries * sizeof *ring_entries, flags, MAP_SHARED, ring, IORING_OFF_SQES);
  if (queue == MAP_FAILED || ring_entries == MAP_FAILED) die("mmap");
  ring_tail = (unsigned *)(queue + with.sq_off.tail);
  ring_array = (unsigned *)(queue + with.sq_off.array);
  ring_mask = *(unsigned *)(queue + with.sq_off.ring_mask);
  return in_call(ring_call, time);
}

static int64_t wait_disk(void) {
  void *block;
  int64_t sum = 0;
  int file = checked(path, open(path, O_RDWR | O_DIRECT | O_CLOEXEC));
  if (posix_memalign(&block, 4096, BLOCK)) die("posix_memalign");
  for (int i = 0; i < ROUNDS; i++) {
    int64_t before = now_ns();
    checked("pread", pread(file, block, BLOCK, (off_t)(i % BLOCKS) * BLOCK));
    sum += now_ns() - before;
  }
  close(file);
  return sum;
}

static int64_t wait_fault(void) {
  int64_t sum = 0;
  int file = checked(path, open(path, O_RDONLY | O_CLOEXEC));
  for (int i = 0; i < ROUNDS; i++) {
    int64_t before = now_ns();
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    volatile char *memory = mmap(NULL, BLOCK * BLOCKS, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) die("mmap");
    madvise((void *)memory, BLOCK * BLOCKS, MADV_RANDOM);
    for (int at = 0; at < BLOCKS; at++) (void)memory[at * BLOCK + 4096 * i];
    munmap((void *)memory, BLOCK * BLOCKS);
    sum += now_ns() - before;
  }
  close(file);
  return sum;
}

static const struct {
  const char *name;
  int64_t (*wait)(void);
} calls[] = {
    {"futex", wait_futex},     {"sleep", wait_sleep},       {"pipe", wait_pipe},
    {"eventfd", wait_eventfd}, {"epoll", wait_epoll},       {"select", wait_select},
    {"receive", wait_receive}, {"socket", wait_read_socket}, {"send", wait_send},
    {"accept", wait_accept},   {"connect", wait_connect},   {"signal", wait_signal},
    {"child", wait_child},     {"disk", wait_disk},         {"fault", wait_fault},
    {"splice", wait_splice},   {"flock", wait_flock},       {"io_uring", wait_ring},
    {"full", wait_full},       {"splice-send", wait_splice_send}, {"either", wait_either},
};
enum { KINDS = sizeof calls / sizeof *calls };

static struct kind {
  const char *name;
  int64_t (*wait)(void);
  int tid, polls, go_event;
  sem_t go, done;
  int64_t in_call_ns, whole_ns;
} kinds[KINDS];

/* Until it may go; each time that it is called once more. */
static void park(struct kind *kind) {
  struct pollfd event = {.fd = kind->go_event, .events = POLLIN};
  eventfd_t value;
  if (kind->polls) {
    while (sem_wait(&kind->go)) {}
    return;
  }
  while (poll(&event, 1, -1) != 1) {}
  checked("eventfd", eventfd_read(kind->go_event, &value));
}

static void let_go(struct kind *kind) {
  if (kind->polls)
    sem_post(&kind->go);
  else
    checked("eventfd", eventfd_write(kind->go_event, 1));
}

static void *live(void *argument) {
  struct kind *kind = argument;
  kind->tid = (int)syscall(SYS_gettid);
  prctl(PR_SET_NAME, kind->name);
  sem_post(&kind->done);
  park(kind);
  int64_t before = now_ns();
  kind->in_call_ns = kind->wait();
  kind->whole_ns = now_ns() - before;
  sem_post(&kind->done);
  for (;;) park(kind);
  return NULL;
}

static void *run_shortly(void *argument) {
  int64_t until = now_ns() + *(int64_t *)argument;
  prctl(PR_SET_NAME, "short");
  while (now_ns() < until) {}
  return NULL;
}

static void answer(const char *event) {
  struct timespec cpu;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  printf("{\"event\":\"%s\",\"process_cpu_ns\":%" PRId64 ",\"threads\":[", event,
         (int64_t)cpu.tv_sec * 1000000000 + cpu.tv_nsec);
  for (int i = 0; i < KINDS; i++)
    printf("%s{\"tid\":%d,\"name\":\"%s\",\"in_call_ns\":%" PRId64 ",\"whole_ns\":%" PRId64 "}", i ? "," : "", kinds[i].tid,
           kinds[i].name, kinds[i].in_call_ns, kinds[i].whole_ns);
  puts("]}");
  if (fflush(stdout)) die("stdout");
}

int main(int argc, char **argv) {
  pthread_t thread;
  int64_t short_ns = 100000;
  if (argc != 2) return 2;
  path = argv[1];
  for (int i = 0; i < KINDS; i++) {
    kinds[i].name = calls[i].name;
    kinds[i].wait = calls[i].wait;
    kinds[i].polls = calls[i].wait == wait_epoll || calls[i].wait == wait_select ||
                     calls[i].wait == wait_signal;
    kinds[i].go_event = checked("eventfd", eventfd(0, 0));
    sem_init(&kinds[i].go, 0, 0);
    sem_init(&kinds[i].done, 0, 0);
    if (pthread_create(&thread, NULL, live, &kinds[i])) die("pthread_create");
    while (sem_wait(&kinds[i].done)) {}
  }
  answer("ready");
  for (int command; (command = getchar()) != EOF && command != 'q';) {
    if (command == 'g') {
      for (int i = 0; i < KINDS; i++) let_go(&kinds[i]);
      for (int i = 0; i < KINDS; i++)
        while (sem_wait(&kinds[i].done)) {}
      answer("waited");
    } else if (command == 's') {
      for (int i = 0; i < SHORT; i++) {
        if (pthread_create(&thread, NULL, run_shortly, &short_ns)) die("pthread_create");
        pthread_join(thread, NULL);
      }
      answer("short");
    }
  }
  return 0;
}
