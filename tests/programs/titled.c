/* Writes each line of its input over its arguments, as servers do to say what they are at. */
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
  char line[256];
  size_t room = strlen(words[0]);
  if (count != 1) return 2;
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    memset(words[0], 0, room);
    strncpy(words[0], line, room);
    puts("done");
    fflush(stdout);
  }
  return 0;
}
