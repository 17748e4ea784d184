#include "sdl_galley.h"

#include <stdint.h>

static galley_vfs_file* file_of(SDL_RWops* stream) { return stream->hidden.unknown.data1; }

static Sint64 SDLCALL size_of(SDL_RWops* stream) {
  return (Sint64)galley_vfs_size(file_of(stream));
}

static Sint64 SDLCALL seek(SDL_RWops* stream, Sint64 offset, int whence) {
  const int64_t position = galley_vfs_seek(file_of(stream), offset, whence);
  return position < 0 ? SDL_SetError("the place is before the beginning of the file") : position;
}

/* Returns how many whole objects were read. */
static size_t SDLCALL read_objects(SDL_RWops* stream, void* buffer, size_t size, size_t count) {
  int64_t got;
  if (size == 0 || count > SIZE_MAX / size) return 0;
  got = galley_vfs_read(file_of(stream), buffer, size * count);
  if (got < 0) SDL_SetError("the file cannot be read: galley_vfs error %d", (int)got);
  return got < 0 ? 0 : (size_t)got / size;
}

static size_t SDLCALL refuse_write(SDL_RWops* stream, const void* buffer, size_t size,
                                   size_t count) {
  (void)stream, (void)buffer, (void)size, (void)count;
  SDL_SetError("cooked files cannot be written");
  return 0;
}

static int SDLCALL close_stream(SDL_RWops* stream) {
  galley_vfs_close(file_of(stream));
  SDL_FreeRW(stream);
  return 0;
}

SDL_RWops* sdl_galley_open(galley_vfs* vfs, const char* path) {
  galley_vfs_file* file = NULL;
  SDL_RWops* stream;
  if (galley_vfs_open(vfs, path, &file) != GALLEY_VFS_OK) {
    char text[1024] = "";
    galley_vfs_error(vfs, text, sizeof text);
    SDL_SetError("%s", text);
    return NULL;
  }
  stream = SDL_AllocRW();
  if (stream == NULL) {
    galley_vfs_close(file);
    return NULL;
  }
  stream->type = SDL_RWOPS_UNKNOWN;
  stream->hidden.unknown.data1 = file;
  stream->size = size_of;
  stream->seek = seek;
  stream->read = read_objects;
  stream->write = refuse_write;
  stream->close = close_stream;
  return stream;
}
