// Preloaded by a test: a disk on which each fdatasync takes a tenth of a second, so that a change of files falls between a result's
// report and its commit.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  struct timespec wait = {0, 100 * 1000 * 1000};
  nanosleep(&wait, 0);
  return real(fd);
}
