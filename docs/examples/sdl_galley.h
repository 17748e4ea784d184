/* A cooked file of a galley_vfs as a stream of SDL 2, for whatever reads one: SDL_LoadWAV_RW,
 * IMG_Load_RW, TTF_OpenFontRW. A game copies this file and sdl_galley.c.
 *
 *   SDL_RWops* stream = sdl_galley_open(vfs, "Game/sounds/step.opus");
 *
 * The open waits for a cook, if need be. To wait in a loading thread, call galley_vfs_prefetch
 * there.
 */
#ifndef SDL_GALLEY_H_
#define SDL_GALLEY_H_

#include <SDL.h>
#include <galley_vfs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a file. NULL if it cannot be had: SDL_GetError says why. SDL_RWclose ends it, before the
 * handle is destroyed. One thread at a time for one stream. */
SDL_RWops* sdl_galley_open(galley_vfs* vfs, const char* path);

#ifdef __cplusplus
}
#endif

#endif
