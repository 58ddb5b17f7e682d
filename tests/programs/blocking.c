/* A program that makes its readers wait: it says it is a Go program, and at a command maps a file,
 * whose reading may block, over what others read of it.
 *
 * "open FILE", and then "memory": over the page of GOMAXPROCS. "exec FILE": executes it instead.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

__attribute__((section(".go.buildinfo"), used)) static const char info[] =
    "\xff Go buildinf:\x08\x02................\x08go1.26.8\x00";

struct whole_page {
  int value;
  char rest[PAGE - sizeof(int)];
};

/* The symbol is renamed to runtime.gomaxprocs, with a size of four bytes. */
__attribute__((aligned(PAGE))) struct whole_page page = {7, ""};
__asm__(".globl \"runtime.gomaxprocs\"\n.type \"runtime.gomaxprocs\", @object\n"
        ".set \"runtime.gomaxprocs\", page\n.size \"runtime.gomaxprocs\", 4\n");

static int take(char *place, int opened) {
  return mmap(place, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, opened, 0) == place;
}

int main(void) {
  static char line[4096], what[4096], file[4096];
  int opened = -1;
  setvbuf(stdout, NULL, _IONBF, 0);
  printf("ready %d\n", page.value);
  while (fgets(line, sizeof line, stdin) != NULL) {
    int words = sscanf(line, "%4095s %4095s", what, file), went = 1;
    if (words == 2 && strcmp(what, "open") == 0) went = (opened = open(file, O_RDONLY)) >= 0;
    if (words == 1 && strcmp(what, "memory") == 0) went = take((char *)&page, opened);
    if (words == 2 && strcmp(what, "exec") == 0)
      went = execl(file, file, "600", (char *)NULL) == 0;
    printf(went ? "done\n" : "failed\n");
  }
  return 0;
}
