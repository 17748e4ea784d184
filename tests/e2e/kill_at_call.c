// Preloaded by a test: kills the process with SIGKILL at the n-th call that changes files, n being GALLEY_KILL_AT, before the call is
// made. GALLEY_KILL_COUNT names a file that gets the number of such calls when the process ends by itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

static void tick(void) {
  static long at = -1;
  if (at < 0) {
    const char *text = getenv("GALLEY_KILL_AT");
    at = text ? atol(text) : 0;
  }
  if (++calls == at) kill(getpid(), SIGKILL);
}

__attribute__((destructor)) static void done(void) {
  const char *path = getenv("GALLEY_KILL_COUNT");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (file) {
    fprintf(file, "%ld", calls);
    fclose(file);
  }
}

#define REAL(name)                \
  static __typeof__(&name) real;  \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(write);
  if (fd > 2) tick();
  return real(fd, bytes, size);
}
int openat(int folder, const char *path, int flags, ...) {
  REAL(openat);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (flags & O_CREAT) tick();
  return real(folder, path, flags, mode);
}
int mkdirat(int folder, const char *path, mode_t mode) {
  REAL(mkdirat);
  tick();
  return real(folder, path, mode);
}
int renameat(int from, const char *a, int to, const char *b) {
  REAL(renameat);
  tick();
  return real(from, a, to, b);
}
int linkat(int from, const char *a, int to, const char *b, int flags) {
  REAL(linkat);
  tick();
  return real(from, a, to, b, flags);
}
int unlinkat(int folder, const char *path, int flags) {
  REAL(unlinkat);
  tick();
  return real(folder, path, flags);
}
int fchmod(int fd, mode_t mode) {
  REAL(fchmod);
  tick();
  return real(fd, mode);
}
int syncfs(int fd) {
  REAL(syncfs);
  tick();
  return real(fd);
}
