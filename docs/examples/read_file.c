/* Reads cooked files through galley_vfs, and writes the digest of each, or why it cannot be had:
 *
 *   read_file URL PLATFORM CACHE_FOLDER PATH...
 *
 * Built against the header and the archive alone:
 *
 *   cc read_file.c -lgalley_vfs -lstdc++ -lpthread
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/vfs/galley_vfs.h"

static void tell(void* context, int level, const char* text) {
  (void)context;
  fprintf(stderr, "%s: %s\n", level == GALLEY_VFS_WARNING ? "warning" : "note", text);
}

static void tell_error(galley_vfs* vfs) {
  char text[1024] = "";
  galley_vfs_error(vfs, text, sizeof text);
  fprintf(stderr, "error: %s\n", text);
}

/* Reads the whole file in pieces, as a game would. Returns 0 if all bytes came. */
static int read_all(galley_vfs* vfs, const char* path) {
  char piece[65536];
  uint64_t left;
  galley_vfs_file* file = NULL;
  if (galley_vfs_open(vfs, path, &file) != GALLEY_VFS_OK) {
    tell_error(vfs);
    return 1;
  }
  left = galley_vfs_size(file);
  while (left > 0) {
    const int64_t got = galley_vfs_read(file, piece, sizeof piece);
    if (got <= 0) break;
    left -= (uint64_t)got;
  }
  printf("%s %s\n", galley_vfs_digest(file), path);
  galley_vfs_close(file);
  return left == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  galley_vfs_options options;
  galley_vfs* vfs = NULL;
  int i, failed = 0;
  if (argc < 5) {
    fprintf(stderr, "usage: read_file URL PLATFORM CACHE_FOLDER PATH...\n");
    return 2;
  }
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.url = argv[1];
  options.platform = argv[2];
  options.cache_folder = argv[3];
  options.token = getenv("GALLEY_TOKEN");
  options.log = tell;
  if (galley_vfs_create(&options, &vfs) != GALLEY_VFS_OK) {
    tell_error(vfs);
    galley_vfs_destroy(vfs);
    return 1;
  }
  for (i = 4; i < argc; ++i) failed |= read_all(vfs, argv[i]);
  galley_vfs_destroy(vfs);
  return failed;
}
