// Preloaded by a test: system calls that change files below a folder, or open them, are counted,
// and one of them fails, or all from one on.
//
//   GALLEY_FAIL_UNDER  the folder, as the program names it
//   GALLEY_FAIL_AT     the number of the first that fails, from 1; 0: none
//   GALLEY_FAIL_EVER   1: and all after it
//   GALLEY_FAIL_ERROR  EIO or ENOSPC
//   GALLEY_FAIL_TOLD   a file elsewhere that gets a line of call and path when the first one fails
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static void tell(const char *call, const char *path) {
  const char *told = getenv("GALLEY_FAIL_TOLD");
  char line[PATH_MAX + 32];
  const int size = snprintf(line, sizeof(line), "%s %s\n", call, path);
  const long file = told ? syscall(SYS_openat, AT_FDCWD, told, O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;
  if (file < 0) return;
  syscall(SYS_write, file, line, size);
  syscall(SYS_close, file);
}

// Whether this call is to fail; errno is set then.
static int fails(const char *call, const char *path) {
  const char *under = getenv("GALLEY_FAIL_UNDER"), *at = getenv("GALLEY_FAIL_AT");
  if (!under || !at || strncmp(path, under, strlen(under)) != 0) return 0;
  const long number = ++calls, first = atol(at);
  const char *ever = getenv("GALLEY_FAIL_EVER"), *error = getenv("GALLEY_FAIL_ERROR");
  if (first == 0 || number < first || (number > first && !(ever && *ever == '1'))) return 0;
  if (number == first) tell(call, path);
  errno = error && strcmp(error, "ENOSPC") == 0 ? ENOSPC : EIO;
  return 1;
}

static int fails_open(const char *call, int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return fails(call, path);
}

#define REAL(name)                \
  static __typeof__(&name) real;  \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define OPEN(name)                                                    \
  int name(const char *path, int flags, ...) {                        \
    REAL(name);                                                       \
    va_list rest;                                                     \
    va_start(rest, flags);                                            \
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;   \
    va_end(rest);                                                     \
    return fails(#name, path) ? -1 : real(path, flags, mode);         \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                  \
  int name(int folder, const char *path, int flags, ...) {            \
    REAL(name);                                                       \
    va_list rest;                                                     \
    va_start(rest, flags);                                            \
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;   \
    va_end(rest);                                                     \
    return fails(#name, path) ? -1 : real(folder, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

// Calls of a descriptor.
#define OF_DESCRIPTOR(type, name, parameters, arguments) \
  type name parameters {                                 \
    REAL(name);                                          \
    return fails_open(#name, fd) ? -1 : real arguments;  \
  }
OF_DESCRIPTOR(ssize_t, write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
OF_DESCRIPTOR(ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at))
OF_DESCRIPTOR(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off64_t at), (fd, bytes, size, at))
OF_DESCRIPTOR(ssize_t, writev, (int fd, const struct iovec *pieces, int count), (fd, pieces, count))
OF_DESCRIPTOR(ssize_t, pwritev, (int fd, const struct iovec *pieces, int count, off_t at), (fd, pieces, count, at))
OF_DESCRIPTOR(ssize_t, pwritev64, (int fd, const struct iovec *pieces, int count, off64_t at), (fd, pieces, count, at))
OF_DESCRIPTOR(int, fdatasync, (int fd), (fd))
OF_DESCRIPTOR(int, fsync, (int fd), (fd))
OF_DESCRIPTOR(int, ftruncate, (int fd, off_t size), (fd, size))
OF_DESCRIPTOR(int, ftruncate64, (int fd, off64_t size), (fd, size))
OF_DESCRIPTOR(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
OF_DESCRIPTOR(int, sync_file_range, (int fd, off64_t at, off64_t size, unsigned flags), (fd, at, size, flags))

// Calls of a path, which is the one that comes to be, where there are two.
#define OF_PATH(name, parameters, path, arguments) \
  int name parameters {                            \
    REAL(name);                                    \
    return fails(#name, path) ? -1 : real arguments; \
  }
OF_PATH(rename, (const char *from, const char *to), to, (from, to))
OF_PATH(link, (const char *from, const char *to), to, (from, to))
OF_PATH(unlink, (const char *path), path, (path))
OF_PATH(mkdir, (const char *path, mode_t mode), path, (path, mode))
