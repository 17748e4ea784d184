/* Reads cooked files through galley_vfs, and writes the digest of each, or why it cannot be had:
 *
 *   read_file URL PLATFORM CACHE_FOLDER PATH...
 *
 * A path that ends in '/' is a folder: all files in it and below it; "/" is the whole tree.
 *
 * Built against the header and the archive alone:
 *
 *   cc read_file.c $(pkg-config --cflags --libs --static galley_vfs) -o read_file
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <galley_vfs.h>

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

/* A folder whose entries are being read. */
struct folder {
  galley_vfs* vfs;
  const char* path; /* "" is the top */
  int failed;
};

static int read_below(galley_vfs* vfs, const char* path);

static int read_entry(void* context, const galley_vfs_entry* entry) {
  struct folder* in = context;
  const size_t size = strlen(in->path) + strlen(entry->name) + 2;
  char* path = malloc(size);
  if (path == NULL) return 1;
  snprintf(path, size, "%s%s%s", in->path, in->path[0] == '\0' ? "" : "/", entry->name);
  in->failed |= entry->is_folder ? read_below(in->vfs, path) : read_all(in->vfs, path);
  free(path);
  return 0;
}

/* Returns 0 if every file below the folder was read. */
static int read_below(galley_vfs* vfs, const char* path) {
  struct folder folder;
  folder.vfs = vfs;
  folder.path = path;
  folder.failed = 0;
  if (galley_vfs_list(vfs, path, read_entry, &folder) == GALLEY_VFS_OK) return folder.failed;
  tell_error(vfs);
  return 1;
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
  for (i = 4; i < argc; ++i) {
    const size_t length = strlen(argv[i]);
    const int is_folder = length > 0 && argv[i][length - 1] == '/';
    if (is_folder) argv[i][length - 1] = '\0';
    failed |= is_folder ? read_below(vfs, argv[i]) : read_all(vfs, argv[i]);
  }
  galley_vfs_destroy(vfs);
  return failed;
}
