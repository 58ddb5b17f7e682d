/*
 * Moves known numbers of bytes over sockets, and says which thread moved how many.
 *
 *   netmoves CASE     says "ready" as a line of JSON, waits for a line, moves, says "done" with an
 *                     account of each thread, waits for a line, ends its threads and itself
 *   netmoves --list   the names of the cases, a line each
 *
 * An account holds what calls on IPv4 and IPv6 sockets returned, by the rules of docs/measurement.md:
 * no peeked bytes, no failed calls, no calls that moved nothing. "calls_exact" is false where the
 * kernel splits one system call as it likes. An account with the id 0 belongs to threads of the
 * kernel whose names begin with "name". Static C without dependencies, so that it runs anywhere.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 600
#define STACK_BYTES (128 << 10)

struct account {
  pid_t tid;
  const char *name;
  bool inexact_calls;
  unsigned long read_bytes, write_bytes, read_calls, write_calls;
};

static struct account accounts[MAX_THREADS];
static int account_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool released;
static __thread struct account *mine;

static void fail(const char *what)
{
  fprintf(stderr, "netmoves: %s: %s\n", what, strerror(errno));
  _exit(1);
}

static void say_accounts(const char *unsupported)
{
  if (unsupported)
    printf("{\"event\":\"done\",\"unsupported\":\"%s\",\"threads\":[", unsupported);
  else
    printf("{\"event\":\"done\",\"unsupported\":null,\"threads\":[");
  for (int i = 0; i < account_count; i++) {
    struct account *one = &accounts[i];

    printf("%s{\"tid\":%d,\"name\":\"%s\",\"calls_exact\":%s,\"read_bytes\":%lu,"
           "\"write_bytes\":%lu,\"read_calls\":%lu,\"write_calls\":%lu}",
           i ? "," : "", one->tid, one->name, one->inexact_calls ? "false" : "true",
           one->read_bytes, one->write_bytes, one->read_calls, one->write_calls);
  }
  printf("]}\n");
  fflush(stdout);
}

static void wait_for_line(void)
{
  int c;

  while ((c = getchar()) != '\n')
    if (c == EOF)
      exit(0);
}

/* A case that cannot be run here ends the program with its reason. */
static void unsupported(const char *what)
{
  char reason[200];

  snprintf(reason, sizeof(reason), "%s: %s", what, strerror(errno));
  say_accounts(reason);
  wait_for_line();
  _exit(0);
}

static struct account *new_account(const char *name, pid_t tid)
{
  struct account *made;

  pthread_mutex_lock(&lock);
  if (account_count == MAX_THREADS)
    fail("too many threads");
  made = &accounts[account_count++];
  made->name = name;
  made->tid = tid;
  pthread_mutex_unlock(&lock);
  return made;
}

/* --- What a call returned, booked on the calling thread ---------------------------------------- */

static ssize_t got(ssize_t moved)
{
  if (moved < 0)
    fail("receive");
  if (moved > 0) {
    mine->read_bytes += moved;
    mine->read_calls++;
  }
  return moved;
}

static ssize_t gave(ssize_t moved)
{
  if (moved < 0)
    fail("send");
  if (moved > 0) {
    mine->write_bytes += moved;
    mine->write_calls++;
  }
  return moved;
}

static void must(bool good, const char *what)
{
  if (!good)
    fail(what);
}

static void fails_with(ssize_t result, int number, const char *what)
{
  must(result == -1 && errno == number, what);
}

/* --- Threads ----------------------------------------------------------------------------------- */

struct job {
  pthread_t thread;
  const char *name;
  void (*work)(struct job *);
  int socket;
  int other;
  size_t bytes;
  bool leaves; /* ends when its work is done, and not when it is asked to */
  bool done;
};

static void *run_job(void *given)
{
  struct job *job = given;

  mine = new_account(job->name, syscall(SYS_gettid));
  pthread_setname_np(pthread_self(), job->name);
  job->work(job);
  pthread_mutex_lock(&lock);
  job->done = true;
  pthread_cond_broadcast(&changed);
  while (!job->leaves && !released)
    pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void start(struct job *job)
{
  pthread_attr_t attributes;
  int refused;

  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  refused = pthread_create(&job->thread, &attributes, run_job, job);
  pthread_attr_destroy(&attributes);
  if (refused) {
    errno = refused;
    fail("pthread_create");
  }
}

static struct job *staying[MAX_THREADS];
static int staying_count;

/* Start jobs and wait until their work is done. */
static void together(struct job *jobs, int count)
{
  for (int i = 0; i < count; i++)
    start(&jobs[i]);
  for (int i = 0; i < count; i++) {
    if (jobs[i].leaves) {
      pthread_join(jobs[i].thread, NULL);
      continue;
    }
    pthread_mutex_lock(&lock);
    while (!jobs[i].done)
      pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    staying[staying_count++] = &jobs[i];
  }
}

static void release(void)
{
  pthread_mutex_lock(&lock);
  released = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < staying_count; i++)
    pthread_join(staying[i]->thread, NULL);
}

/* --- Sockets ----------------------------------------------------------------------------------- */

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

static socklen_t loopback(int family, union address *address)
{
  memset(address, 0, sizeof(*address));
  address->any.sa_family = family;
  if (family == AF_INET) {
    address->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return sizeof(address->v4);
  }
  address->v6.sin6_addr = in6addr_loopback;
  return sizeof(address->v6);
}

static int bound(int family, int type, union address *address, socklen_t *length)
{
  int made = socket(family, type | SOCK_CLOEXEC, 0);

  if (made < 0)
    unsupported(family == AF_INET6 ? "IPv6" : "socket");
  *length = loopback(family, address);
  if (bind(made, &address->any, *length) < 0)
    unsupported("bind to loopback");
  must(getsockname(made, &address->any, length) == 0, "getsockname");
  return made;
}

/* Two connected sockets; nothing has been sent. */
static void pair(int family, int type, int ends[2])
{
  union address first, second;
  socklen_t length;
  int listener;

  if (type == SOCK_STREAM) {
    int one = 1;

    listener = bound(family, type, &first, &length);
    must(listen(listener, 8) == 0, "listen");
    ends[0] = socket(family, type | SOCK_CLOEXEC, 0);
    must(connect(ends[0], &first.any, length) == 0, "connect");
    ends[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    must(ends[1] >= 0, "accept");
    close(listener);
    setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return;
  }
  ends[0] = bound(family, type, &first, &length);
  ends[1] = bound(family, type, &second, &length);
  must(connect(ends[0], &second.any, length) == 0, "connect");
  must(connect(ends[1], &first.any, length) == 0, "connect");
}

static char *block(size_t bytes)
{
  char *made = malloc(bytes);

  must(made, "malloc");
  memset(made, 'x', bytes);
  return made;
}

/* --- Jobs -------------------------------------------------------------------------------------- */

static void read_all(struct job *job)
{
  char *room = block(64 << 10);
  size_t left = job->bytes;

  while (left)
    left -= got(read(job->socket, room, left < (64 << 10) ? left : 64 << 10));
  free(room);
}

static void write_all(struct job *job)
{
  char *data = block(64 << 10);
  size_t left = job->bytes;

  while (left)
    left -= gave(write(job->socket, data, left < (64 << 10) ? left : 64 << 10));
  free(data);
}

static void readv_all(struct job *job)
{
  char a[100], b[1000];
  struct iovec parts[2] = {{a, sizeof(a)}, {b, sizeof(b)}};
  size_t left = job->bytes;

  while (left) {
    if (left < sizeof(a) + sizeof(b)) {
      left -= got(read(job->socket, b, left < sizeof(b) ? left : sizeof(b)));
      continue;
    }
    left -= got(readv(job->socket, parts, 2));
  }
}

static void writev_all(struct job *job)
{
  char a[300], b[700];
  struct iovec parts[2] = {{a, sizeof(a)}, {b, sizeof(b)}};

  memset(a, 'a', sizeof(a));
  memset(b, 'b', sizeof(b));
  for (size_t sent = 0; sent < job->bytes; sent += sizeof(a) + sizeof(b))
    must(gave(writev(job->socket, parts, 2)) == 1000, "writev");
}

/* send, sendto, sendmsg; and write as well */
static void send_four_ways(struct job *job)
{
  char data[400] = {0};
  struct iovec part = {data, sizeof(data)};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

  gave(send(job->socket, data, 100, 0));
  gave(sendto(job->socket, data, 200, MSG_NOSIGNAL, NULL, 0));
  gave(sendmsg(job->socket, &message, 0));
  gave(write(job->socket, data, 50));
}

static void receive_four_ways(struct job *job)
{
  char room[400];
  struct iovec part = {room, sizeof(room)};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

  got(recv(job->socket, room, 100, MSG_WAITALL));
  got(recvfrom(job->socket, room, 200, MSG_WAITALL, NULL, NULL));
  got(recvmsg(job->socket, &message, MSG_WAITALL));
  got(read(job->socket, room, 50));
}

#define BATCH 5

static void fill_batch(struct mmsghdr *batch, struct iovec *parts, char *data, size_t first)
{
  memset(batch, 0, BATCH * sizeof(*batch));
  for (int i = 0; i < BATCH; i++) {
    parts[i] = (struct iovec){data, first * (i + 1)};
    batch[i].msg_hdr.msg_iov = &parts[i];
    batch[i].msg_hdr.msg_iovlen = 1;
  }
}

static void send_batch(struct job *job)
{
  char data[100 * BATCH] = {0};
  struct mmsghdr batch[BATCH];
  struct iovec parts[BATCH];

  fill_batch(batch, parts, data, 100);
  must(sendmmsg(job->socket, batch, BATCH, 0) == BATCH, "sendmmsg");
  for (int i = 0; i < BATCH; i++)
    gave(batch[i].msg_len);
}

static void receive_batch(struct job *job)
{
  char room[100 * BATCH];
  struct mmsghdr batch[BATCH];
  struct iovec parts[BATCH];

  fill_batch(batch, parts, room, sizeof(room));
  for (int i = 0; i < BATCH; i++)
    parts[i].iov_len = sizeof(room);
  must(recvmmsg(job->socket, batch, BATCH, MSG_WAITFORONE, NULL) > 0, "recvmmsg");
  for (int i = 0; i < BATCH; i++)
    got(batch[i].msg_len);
}

static void send_file(struct job *job)
{
  int file = memfd_create("sent", MFD_CLOEXEC);
  off_t at = 0;

  must(file >= 0 && ftruncate(file, job->bytes) == 0, "memfd_create");
  mine->inexact_calls = true;
  while (at < (off_t)job->bytes)
    gave(sendfile(job->socket, file, &at, job->bytes - at));
  close(file);
}

static void splice_out(struct job *job)
{
  char *data = block(4096);
  size_t left = job->bytes;
  int ends[2];

  must(pipe(ends) == 0, "pipe");
  mine->inexact_calls = true;
  while (left) {
    ssize_t filled = write(ends[1], data, left < 4096 ? left : 4096);

    must(filled > 0, "write to a pipe");
    left -= filled;
    while (filled)
      filled -= gave(splice(ends[0], NULL, job->socket, NULL, filled, 0));
  }
  close(ends[0]);
  close(ends[1]);
  free(data);
}

static void splice_in(struct job *job)
{
  char room[4096];
  size_t left = job->bytes;
  int ends[2];

  must(pipe(ends) == 0, "pipe");
  mine->inexact_calls = true;
  while (left) {
    ssize_t moved =
      got(splice(job->socket, NULL, ends[1], NULL, left < 4096 ? left : 4096, 0));

    must(moved > 0, "splice");
    left -= moved;
    while (moved)
      moved -= read(ends[0], room, moved);
  }
  close(ends[0]);
  close(ends[1]);
}

static void peek_then_take(struct job *job)
{
  char room[1000];
  struct iovec part = {room, sizeof(room)};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

  must(recv(job->socket, room, 1000, MSG_PEEK | MSG_WAITALL) == 1000, "peek");
  must(recvmsg(job->socket, &message, MSG_PEEK) == 1000, "peek");
  got(recv(job->socket, room, 600, 0));
  must(recv(job->socket, room, 1000, MSG_PEEK) == 400, "peek");
  got(recv(job->socket, room, 1000, 0));
}

static void send_thousand(struct job *job)
{
  char data[1000] = {0};

  must(gave(send(job->socket, data, sizeof(data), 0)) == 1000, "send");
}

/* Wait until the kernel has an error for a socket: on a busy machine packets arrive later. */
static void wait_for_error(int socket)
{
  struct pollfd watched = {.fd = socket};

  must(poll(&watched, 1, 120000) == 1, "poll");
}

static char *volatile nowhere = (char *)8;

/* Calls that fail, and calls that move nothing. */
static void in_vain(struct job *job)
{
  char room[1000];
  int ends[2], full;
  struct linger at_once = {.l_onoff = 1, .l_linger = 0};

  pair(AF_INET, SOCK_STREAM, ends);
  fails_with(recv(ends[0], room, sizeof(room), MSG_DONTWAIT), EAGAIN, "recv");
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fails_with(read(ends[0], room, sizeof(room)), EAGAIN, "read");
  for (full = 0; !full;) { /* until nothing goes in any more */
    ssize_t moved = write(ends[0], room, sizeof(room));

    if (moved < 0 && errno == EAGAIN)
      full = 1;
    else
      gave(moved);
  }
  setsockopt(ends[1], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(ends[1]); /* a reset */
  wait_for_error(ends[0]);
  fails_with(read(ends[0], room, sizeof(room)), ECONNRESET, "read after a reset");
  must(read(ends[0], room, sizeof(room)) == 0, "read at the end");
  fails_with(send(ends[0], room, 10, MSG_NOSIGNAL), EPIPE, "send after a reset");
  close(ends[0]);
  pair(AF_INET, SOCK_DGRAM, ends);
  must(send(ends[0], room, 0, 0) == 0, "send of nothing");
  must(recv(ends[1], room, sizeof(room), 0) == 0, "receive of nothing");
  fails_with(send(ends[0], room, 70000, 0), EMSGSIZE, "send of too much");
  fails_with(send(ends[0], nowhere, 100, 0), EFAULT, "send of what is not there");
  fails_with(recv(ends[1], room, 100, MSG_DONTWAIT), EAGAIN, "recv");
  close(ends[1]);
  gave(send(ends[0], room, 30, 0)); /* goes out; that nobody listens is reported to the next call */
  wait_for_error(ends[0]);
  fails_with(send(ends[0], room, 30, 0), ECONNREFUSED, "send to nobody");
  close(ends[0]);
  (void)job;
}

/* A datagram longer than the room for it: what was copied, or with MSG_TRUNC what the call says. */
static void cut_short(struct job *job)
{
  char room[1000] = {0};
  int ends[2];

  pair(AF_INET, SOCK_DGRAM, ends);
  gave(send(ends[0], room, 1000, 0));
  gave(send(ends[0], room, 1000, 0));
  must(got(recv(ends[1], room, 10, 0)) == 10, "recv");
  must(got(recv(ends[1], room, 10, MSG_TRUNC)) == 1000, "recv with MSG_TRUNC");
  close(ends[0]);
  close(ends[1]);
  (void)job;
}

/* A datagram returned with an error is the sender's own: it was not received. */
static void error_queue(struct job *job)
{
  char room[1000] = {0}, control[512];
  struct iovec part = {room, sizeof(room)};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
         .msg_controllen = sizeof(control)};
  int ends[2], one = 1;

  pair(AF_INET, SOCK_DGRAM, ends);
  must(setsockopt(ends[0], IPPROTO_IP, IP_RECVERR, &one, sizeof(one)) == 0, "IP_RECVERR");
  close(ends[1]);
  gave(send(ends[0], room, 123, 0));
  wait_for_error(ends[0]);
  must(recvmsg(ends[0], &message, MSG_ERRQUEUE) == 123, "recvmsg of an error");
  close(ends[0]);
  (void)job;
}

static void other_families(struct job *job)
{
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
  } ask = {{sizeof(ask), RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0}, {AF_UNSPEC}};
  char room[32768];
  int ends[2], link;

  must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  must(write(ends[0], room, 5000) == 5000 && read(ends[1], room, 5000) == 5000, "stream");
  close(ends[0]);
  close(ends[1]);
  must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0, "socketpair");
  must(send(ends[0], room, 300, 0) == 300 && recv(ends[1], room, 300, 0) == 300, "datagram");
  close(ends[0]);
  close(ends[1]);
  must(pipe(ends) == 0 && write(ends[1], room, 70) == 70, "pipe");
  must(read(ends[0], room, 70) == 70, "pipe");
  link = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  must(link >= 0 && send(link, &ask, sizeof(ask), 0) == sizeof(ask), "netlink");
  must(recv(link, room, sizeof(room), 0) > 0, "netlink");
  close(link);
  (void)job;
}

/* --- io_uring ---------------------------------------------------------------------------------- */

struct ring {
  int fd;
  unsigned *sq_tail, *sq_mask, *sq_array, *sq_flags, *cq_head, *cq_tail, *cq_mask;
  struct io_uring_sqe *sqes;
  struct io_uring_cqe *cqes;
  bool polled;
};

static void open_ring(struct ring *ring, unsigned flags)
{
  struct io_uring_params params = {.flags = flags, .sq_thread_idle = 1000};
  size_t bytes;
  char *shared;

  ring->fd = syscall(__NR_io_uring_setup, 8, &params);
  if (ring->fd < 0)
    unsupported("io_uring_setup");
  ring->polled = flags & IORING_SETUP_SQPOLL;
  must(params.features & IORING_FEAT_SINGLE_MMAP, "io_uring before Linux 5.4");
  bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
  if (bytes < params.sq_off.array + params.sq_entries * sizeof(unsigned))
    bytes = params.sq_off.array + params.sq_entries * sizeof(unsigned);
  shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
  must(shared != MAP_FAILED, "mmap of a ring");
  ring->sqes = mmap(NULL, params.sq_entries * sizeof(struct io_uring_sqe),
        PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
  must(ring->sqes != MAP_FAILED, "mmap of a ring");
  ring->sq_tail = (unsigned *)(shared + params.sq_off.tail);
  ring->sq_mask = (unsigned *)(shared + params.sq_off.ring_mask);
  ring->sq_array = (unsigned *)(shared + params.sq_off.array);
  ring->sq_flags = (unsigned *)(shared + params.sq_off.flags);
  ring->cq_head = (unsigned *)(shared + params.cq_off.head);
  ring->cq_tail = (unsigned *)(shared + params.cq_off.tail);
  ring->cq_mask = (unsigned *)(shared + params.cq_off.ring_mask);
  ring->cqes = (struct io_uring_cqe *)(shared + params.cq_off.cqes);
}

/* One operation, waited for; its result. */
static ssize_t operate(struct ring *ring, int operation, int flags, int fd, void *data, size_t bytes)
{
  unsigned tail = *ring->sq_tail, index = tail & *ring->sq_mask, head = *ring->cq_head;
  struct io_uring_sqe *entry = &ring->sqes[index];
  unsigned wait_for = IORING_ENTER_GETEVENTS;
  ssize_t result;

  memset(entry, 0, sizeof(*entry));
  entry->opcode = operation;
  entry->flags = flags;
  entry->fd = fd;
  entry->addr = (uintptr_t)data;
  entry->len = bytes;
  entry->off = operation == IORING_OP_READ || operation == IORING_OP_WRITE ? -1 : 0;
  ring->sq_array[index] = index;
  __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
  __sync_synchronize();
  if (ring->polled && *ring->sq_flags & IORING_SQ_NEED_WAKEUP)
    wait_for |= IORING_ENTER_SQ_WAKEUP;
  while (__atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE) == head) {
    if (syscall(__NR_io_uring_enter, ring->fd, 1, 1, wait_for, NULL, 0) < 0 &&
        errno != EINTR)
      fail("io_uring_enter");
  }
  result = ring->cqes[head & *ring->cq_mask].res;
  __atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
  if (result < 0) {
    errno = -result;
    fail("io_uring operation");
  }
  return result;
}

static void over_ring(unsigned setup, int flags, const char *worker)
{
  struct account *own = mine;
  struct ring ring;
  char data[4000] = {0};
  int ends[2];

  pair(AF_INET, SOCK_STREAM, ends);
  open_ring(&ring, setup);
  if (worker)
    mine = new_account(worker, 0);
  for (int i = 1; i <= 10; i++) {
    gave(operate(&ring, IORING_OP_SEND, flags, ends[0], data, 100 * i));
    got(operate(&ring, IORING_OP_RECV, flags, ends[1], data, sizeof(data)));
    gave(operate(&ring, IORING_OP_WRITE, flags, ends[0], data, 30 * i));
    got(operate(&ring, IORING_OP_READ, flags, ends[1], data, sizeof(data)));
  }
  mine = own;
  close(ends[0]);
  close(ends[1]);
  /* The ring stays open: its threads end with the process. */
}

static void ring_inline(struct job *job)
{
  (void)job;
  over_ring(0, 0, NULL);
}

static void ring_worker(struct job *job)
{
  (void)job;
  over_ring(0, IOSQE_ASYNC, "iou-wrk-");
}

static void ring_polled(struct job *job)
{
  (void)job;
  over_ring(IORING_SETUP_SQPOLL, 0, "iou-sqp-");
}

/* --- Cases ------------------------------------------------------------------------------------- */

static void two(int family, int type, void (*sends)(struct job *), void (*receives)(struct job *),
    size_t bytes)
{
  static struct job jobs[2];
  int ends[2];

  pair(family, type, ends);
  jobs[0] = (struct job){.name = "sender", .work = sends, .socket = ends[0], .bytes = bytes};
  jobs[1] = (struct job){.name = "receiver", .work = receives, .socket = ends[1], .bytes = bytes};
  together(jobs, 2);
}

static void one(void (*work)(struct job *))
{
  static struct job job;

  job = (struct job){.name = "mover", .work = work};
  together(&job, 1);
}

/* Datagrams wait in the receiver's buffer: the sender is done before the receiver begins. */
static void in_turn(int family, void (*sends)(struct job *), void (*receives)(struct job *),
        size_t bytes)
{
  static struct job jobs[2];
  int ends[2];

  pair(family, SOCK_DGRAM, ends);
  jobs[0] = (struct job){.name = "sender", .work = sends, .socket = ends[0], .bytes = bytes};
  jobs[1] = (struct job){.name = "receiver", .work = receives, .socket = ends[1], .bytes = bytes};
  together(&jobs[0], 1);
  together(&jobs[1], 1);
}

static void tcp4_read_write(void) { two(AF_INET, SOCK_STREAM, write_all, read_all, 1234567); }
static void tcp6_read_write(void) { two(AF_INET6, SOCK_STREAM, write_all, read_all, 1234567); }
static void tcp4_vectors(void) { two(AF_INET, SOCK_STREAM, writev_all, readv_all, 200000); }
static void tcp6_vectors(void) { two(AF_INET6, SOCK_STREAM, writev_all, readv_all, 200000); }
static void tcp4_send_recv(void) { two(AF_INET, SOCK_STREAM, send_four_ways, receive_four_ways, 0); }
static void tcp6_send_recv(void) { two(AF_INET6, SOCK_STREAM, send_four_ways, receive_four_ways, 0); }
static void tcp4_mmsg(void) { two(AF_INET, SOCK_STREAM, send_batch, read_all, 1500); }
static void tcp4_much(void) { two(AF_INET, SOCK_STREAM, write_all, read_all, 64 << 20); }
static void udp4_send_recv(void) { in_turn(AF_INET, send_four_ways, receive_four_ways, 0); }
static void udp6_send_recv(void) { in_turn(AF_INET6, send_four_ways, receive_four_ways, 0); }
static void udp4_vectors(void) { in_turn(AF_INET, writev_all, readv_all, 20000); }
static void udp4_mmsg(void) { in_turn(AF_INET, send_batch, receive_batch, 0); }
static void udp6_mmsg(void) { in_turn(AF_INET6, send_batch, receive_batch, 0); }
static void tcp4_sendfile(void) { two(AF_INET, SOCK_STREAM, send_file, read_all, 1000003); }
static void tcp6_sendfile(void) { two(AF_INET6, SOCK_STREAM, send_file, read_all, 1000003); }
static void tcp4_splice_out(void) { two(AF_INET, SOCK_STREAM, splice_out, read_all, 100001); }
static void tcp4_splice_in(void) { two(AF_INET, SOCK_STREAM, write_all, splice_in, 100001); }
static void udp4_splice_in(void) { in_turn(AF_INET, send_thousand, splice_in, 1000); }
static void tcp4_peek(void) { two(AF_INET, SOCK_STREAM, send_thousand, peek_then_take, 0); }
static void failed_calls(void) { one(in_vain); }
static void truncated(void) { one(cut_short); }
static void errors_received(void) { one(error_queue); }
static void not_internet(void) { one(other_families); }
static void io_uring_inline(void) { one(ring_inline); }
static void io_uring_worker(void) { one(ring_worker); }
static void io_uring_polled(void) { one(ring_polled); }

static void shared_socket(void)
{
  static struct job jobs[40];
  int ends[2];

  pair(AF_INET, SOCK_STREAM, ends);
  for (int i = 0; i < 40; i++) {
    bool sends = i % 2 == 0;

    jobs[i] = (struct job){.name = sends ? "sender" : "receiver",
               .work = sends ? write_all : read_all,
               .socket = ends[!sends],
               .bytes = 10000 + 500 * (i / 2)};
  }
  together(jobs, 40);
}

static void send_and_take(struct job *job)
{
  char data[2000] = {0};
  int ends[2];

  pair(AF_INET, SOCK_DGRAM, ends);
  gave(send(ends[0], data, job->bytes, 0));
  got(recv(ends[1], data, sizeof(data), 0));
  close(ends[0]);
  close(ends[1]);
}

/* Threads that live for a fraction of a millisecond, a few at a time. */
static void short_threads(void)
{
  static struct job jobs[500];

  for (int i = 0; i < 500; i++)
    jobs[i] = (struct job){.name = "short", .work = send_and_take, .leaves = true,
               .bytes = 1 + i};
  for (int i = 0; i < 500; i += 10)
    together(&jobs[i], 10);
}

static void nothing(struct job *job)
{
  (void)job;
}

/* Ids are given out in order: the next one is the one after ns_last_pid. */
static bool next_id(pid_t tid)
{
  char text[16];
  int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC), length;
  bool done;

  if (file < 0)
    unsupported("/proc/sys/kernel/ns_last_pid");
  length = snprintf(text, sizeof(text), "%d", tid - 1);
  done = write(file, text, length) == length;
  if (!done)
    unsupported("/proc/sys/kernel/ns_last_pid");
  close(file);
  return done;
}

/* One id, three threads after each other: the second uses no network, the third stays. */
static void used_id(void)
{
  static struct job jobs[3];
  pid_t wanted = 0;

  for (int attempt = 0; attempt < 1000; attempt++) {
    int before = account_count;

    jobs[0] = (struct job){.name = "first", .work = send_and_take, .leaves = true,
               .bytes = 1111};
    jobs[1] = (struct job){.name = "second", .work = nothing, .leaves = true};
    jobs[2] = (struct job){.name = "third", .work = send_and_take, .bytes = 77};
    together(&jobs[0], 1);
    wanted = accounts[before].tid;
    next_id(wanted);
    together(&jobs[1], 1);
    if (accounts[before + 1].tid != wanted)
      continue; /* somebody else was faster */
    next_id(wanted);
    together(&jobs[2], 1);
    if (accounts[before + 2].tid == wanted)
      return;
  }
  errno = EBUSY;
  unsupported("the same id again");
}

/* A child is another process. */
static void child_process(void)
{
  static struct job job;
  char data[100] = {0};
  int ends[2], status;
  pid_t child;

  pair(AF_INET, SOCK_STREAM, ends);
  child = fork();
  must(child >= 0, "fork");
  if (!child)
    _exit(send(ends[0], data, 100, 0) != 100);
  must(waitpid(child, &status, 0) == child && status == 0, "the child");
  job = (struct job){.name = "receiver", .work = read_all, .socket = ends[1], .bytes = 100};
  together(&job, 1);
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
  {"tcp4_read_write", tcp4_read_write},
  {"tcp6_read_write", tcp6_read_write},
  {"tcp4_vectors", tcp4_vectors},
  {"tcp6_vectors", tcp6_vectors},
  {"tcp4_send_recv", tcp4_send_recv},
  {"tcp6_send_recv", tcp6_send_recv},
  {"tcp4_mmsg", tcp4_mmsg},
  {"tcp4_much", tcp4_much},
  {"udp4_send_recv", udp4_send_recv},
  {"udp6_send_recv", udp6_send_recv},
  {"udp4_vectors", udp4_vectors},
  {"udp4_mmsg", udp4_mmsg},
  {"udp6_mmsg", udp6_mmsg},
  {"tcp4_sendfile", tcp4_sendfile},
  {"tcp6_sendfile", tcp6_sendfile},
  {"tcp4_splice_out", tcp4_splice_out},
  {"tcp4_splice_in", tcp4_splice_in},
  {"udp4_splice_in", udp4_splice_in},
  {"tcp4_peek", tcp4_peek},
  {"failed_calls", failed_calls},
  {"truncated", truncated},
  {"errors_received", errors_received},
  {"not_internet", not_internet},
  {"shared_socket", shared_socket},
  {"short_threads", short_threads},
  {"used_id", used_id},
  {"child_process", child_process},
  {"io_uring_inline", io_uring_inline},
  {"io_uring_worker", io_uring_worker},
  {"io_uring_polled", io_uring_polled},
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

int main(int count, char **words)
{
  if (count != 2) {
    fprintf(stderr, "usage: netmoves CASE | --list\n");
    return 2;
  }
  for (size_t i = 0; i < CASES && !strcmp(words[1], "--list"); i++)
    puts(cases[i].name);
  for (size_t i = 0; i < CASES; i++) {
    if (strcmp(words[1], cases[i].name))
      continue;
    signal(SIGPIPE, SIG_IGN);
    mine = new_account("netmoves", getpid());
    printf("{\"event\":\"ready\",\"pid\":%d}\n", getpid());
    fflush(stdout);
    wait_for_line();
    cases[i].run();
    say_accounts(NULL);
    wait_for_line();
    release();
    return 0;
  }
  return strcmp(words[1], "--list") ? 2 : 0;
}
