/* peak_memory MIB: touches that much memory, gives it back, and exits with 0. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int count, char **arguments)
{
	size_t bytes = (count > 1 ? strtoul(arguments[1], NULL, 10) : 0) << 20;

	if (bytes) {
		char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			return 1;
		memset(memory, 1, bytes);
		munmap(memory, bytes);
	}
	return 0;
}
