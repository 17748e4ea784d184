/* Loads cooked files as a game does, without a window: through PhysicsFS or through SDL.
 *
 *   load_sample physfs|sdl URL PLATFORM CACHE_FOLDER PATH...
 *
 * Looks at the headers of textures (KTX 2.0), meshes (GLB 2.0) and sounds (Opus), and writes a line
 * for each file: its CRC-32, its size, its path, and what it is.
 *
 *   cc load_sample.c physfs_galley.c sdl_galley.c \
 *     $(pkg-config --cflags --libs --static galley_vfs) $(pkg-config --cflags --libs physfs sdl2) \
 *     -o load_sample
 */
#define SDL_MAIN_HANDLED
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "physfs_galley.h"
#include "sdl_galley.h"

enum { loaders_max = 4 };

/* Shared by the loading threads. */
typedef struct loading {
  galley_vfs* vfs;
  int uses_physfs;
  char** paths;
  int count;
  SDL_atomic_t next, failed;
} loading;

/* ---------------------------------------------------------------- kinds of files */

static uint32_t number_at(const unsigned char* bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t crc_of(const unsigned char* bytes, size_t size) {
  uint32_t crc = 0xFFFFFFFFu;
  size_t i;
  int bit;
  for (i = 0; i < size; ++i) {
    crc ^= bytes[i];
    for (bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xEDB88320u & -(crc & 1));
  }
  return ~crc;
}

static int is_texture(const unsigned char* bytes, size_t size) {
  return size > 80 && memcmp(bytes, "\xABKTX 20\xBB\r\n\x1A\n", 12) == 0;
}

static int is_mesh(const unsigned char* bytes, size_t size) {
  return size > 20 && memcmp(bytes, "glTF", 4) == 0 && number_at(bytes + 4) == 2 &&
         number_at(bytes + 8) == size;
}

static int is_sound(const unsigned char* bytes, size_t size) {
  return size > 36 && memcmp(bytes, "OggS", 4) == 0 && memcmp(bytes + 28, "OpusHead", 8) == 0;
}

/* Says what the file is. NULL: its header is not that of its name. */
static const char* kind_of(const char* path, const unsigned char* bytes, size_t size) {
  const char* end = strrchr(path, '.');
  if (end == NULL) return "file";
  if (strcmp(end, ".ktx2") == 0) return is_texture(bytes, size) ? "texture" : NULL;
  if (strcmp(end, ".glb") == 0) return is_mesh(bytes, size) ? "mesh" : NULL;
  if (strcmp(end, ".opus") == 0) return is_sound(bytes, size) ? "sound" : NULL;
  return "file";
}

/* ---------------------------------------------------------------- a file */

/* Both return the whole file, to be freed, or NULL, and the error is told. */
static void* load_by_physfs(const char* path, size_t* size) {
  void* bytes = NULL;
  PHYSFS_File* file = PHYSFS_openRead(path);
  if (file != NULL) {
    *size = (size_t)PHYSFS_fileLength(file);
    bytes = malloc(*size + 1);
    if (bytes != NULL && PHYSFS_readBytes(file, bytes, *size) != (PHYSFS_sint64)*size) {
      free(bytes);
      bytes = NULL;
    }
    PHYSFS_close(file);
  }
  if (bytes == NULL)
    fprintf(stderr, "error: %s: %s\n", path, PHYSFS_getErrorByCode(PHYSFS_getLastErrorCode()));
  return bytes;
}

static void* load_by_sdl(galley_vfs* vfs, const char* path, size_t* size) {
  SDL_RWops* stream = sdl_galley_open(vfs, path);
  void* loaded = stream == NULL ? NULL : SDL_LoadFile_RW(stream, size, 1);
  void* bytes = loaded == NULL ? NULL : malloc(*size + 1);
  if (loaded == NULL) fprintf(stderr, "error: %s\n", SDL_GetError());
  if (bytes != NULL) memcpy(bytes, loaded, *size);
  SDL_free(loaded);
  return bytes;
}

static int load(loading* of, const char* path) {
  size_t size = 0;
  const char* kind;
  void* bytes = of->uses_physfs ? load_by_physfs(path, &size) : load_by_sdl(of->vfs, path, &size);
  if (bytes == NULL) return 0;
  kind = kind_of(path, bytes, size);
  if (kind == NULL) fprintf(stderr, "error: %s does not begin as its name says\n", path);
  if (kind != NULL) printf("%08x %zu %s %s\n", crc_of(bytes, size), size, path, kind);
  fflush(stdout);
  free(bytes);
  return kind != NULL;
}

/* Waits until the file is in the cache. */
static int prefetch(galley_vfs* vfs, const char* path) {
  char text[1024] = "";
  const int result = galley_vfs_prefetch(vfs, &path, 1, NULL, NULL);
  if (result == GALLEY_VFS_OK) return 1;
  galley_vfs_error(vfs, text, sizeof text);
  fprintf(stderr, "error: %s: %d; the last error: %s\n", path, result, text);
  return 0;
}

/* A loading thread: takes one path after the other. The prefetch waits for the cook; the open that
 * follows does not, and so holds up no other thread that opens a file through PhysicsFS. */
static int load_files(void* context) {
  loading* of = context;
  int i;
  while ((i = SDL_AtomicAdd(&of->next, 1)) < of->count) {
    const char* path = of->paths[i];
    if (!prefetch(of->vfs, path) || !load(of, path)) SDL_AtomicSet(&of->failed, 1);
  }
  return 0;
}

/* ---------------------------------------------------------------- the program */

static int load_all(loading* of) {
  SDL_Thread* loaders[loaders_max];
  int i;
  for (i = 0; i < loaders_max; ++i) {
    loaders[i] = SDL_CreateThread(load_files, "loading", of);
    if (loaders[i] == NULL) SDL_AtomicSet(&of->failed, 1);
  }
  for (i = 0; i < loaders_max; ++i) SDL_WaitThread(loaders[i], NULL);
  return SDL_AtomicGet(&of->failed);
}

static int load_all_by_physfs(loading* of, const char* program) {
  int failed = 1;
  if (!PHYSFS_init(program)) return 1;
  if (physfs_galley_mount(of->vfs, "/", 1)) {
    failed = load_all(of);
  } else {
    fprintf(stderr, "error: %s\n", PHYSFS_getErrorByCode(PHYSFS_getLastErrorCode()));
  }
  PHYSFS_deinit();
  return failed;
}

int main(int argc, char** argv) {
  galley_vfs_options options;
  loading of;
  int failed = 1;
  if (argc < 6 || (strcmp(argv[1], "physfs") != 0 && strcmp(argv[1], "sdl") != 0)) {
    fprintf(stderr, "usage: load_sample physfs|sdl URL PLATFORM CACHE_FOLDER PATH...\n");
    return 2;
  }
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.url = argv[2];
  options.platform = argv[3];
  options.cache_folder = argv[4];
  memset(&of, 0, sizeof of);
  of.uses_physfs = strcmp(argv[1], "physfs") == 0;
  of.paths = argv + 5;
  of.count = argc - 5;
  if (galley_vfs_create(&options, &of.vfs) == GALLEY_VFS_OK) {
    failed = of.uses_physfs ? load_all_by_physfs(&of, argv[0]) : load_all(&of);
  } else {
    char text[1024] = "";
    galley_vfs_error(of.vfs, text, sizeof text);
    fprintf(stderr, "error: %s\n", text);
  }
  galley_vfs_destroy(of.vfs);
  return failed;
}
