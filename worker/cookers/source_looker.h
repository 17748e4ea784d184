// SourceLooker: a cooker that can say what a source is without cooking it, and better than its Load
// does: in less time, or with more words. `galley-worker describe --look` asks it, and asks Load of
// all other cookers.
#pragma once

#include <string>

#include "worker/cookers/cooker.h"

namespace galley::worker {

// FileLook: a cooker's words for a file. What the file refers to, and what is read with it, is told
// to the context.
struct FileLook {
  std::string kind;    // "image, 512 x 512, with alpha"; "": nothing is known
  std::string pixels;  // of an image: NameOf(texture::Pixels)
};

class SourceLooker {
 public:
  virtual ~SourceLooker() = default;
  // OK: the cooker takes the source. Errors are those of Load and of the part of Cook that decides
  // whether a source is taken. `context` gets references and tags, and no outputs.
  virtual absl::Status Look(CookContext& context, FileLook& look) = 0;
};

}  // namespace galley::worker
