// SourceLooker: a cooker that can describe a source without cooking it, faster or in more detail
// than its Load can. `galley-worker describe --look` asks a SourceLooker, and asks Load of every
// other cooker.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "worker/cookers/cooker.h"

namespace galley::worker {

// LookDepth: how far a look goes.
enum class LookDepth {
  kOutline,  // the first bytes, or the text alone: nothing is decoded or compiled
  kWhole,    // as far as the cooker must go to know that it takes the source
};

// FileLook: a cooker's description of a file. References, and files that are read with the file, go
// to the context.
struct FileLook {
  std::string kind;    // "image, 512 x 512, with alpha"; "": nothing is known
  std::string pixels;  // for an image: NameOf(texture::Pixels)
  // Why the cooker does not take the file, in a few words that are the same for all files with this
  // flaw: "a JPEG under the name .png". "": only the error tells the reason.
  std::string flaw;
  std::vector<std::string> includes;                     // names in #include, in order
  std::set<std::string> buffers;                         // files of a glTF's buffers, as written
  std::set<std::pair<std::string, std::string>> images;  // a glTF's, as written; use
};

class SourceLooker {
 public:
  virtual ~SourceLooker() = default;
  // The number of first bytes of a source that mostly suffice for an outline; UINT64_MAX: all
  // bytes.
  virtual uint64_t outline_bytes() const { return UINT64_MAX; }
  // OK: the cooker takes the source, as far as `depth` tells. Errors: as Load, and as the part of
  // Cook that decides whether a source is taken. `context` gets references and tags, and no
  // outputs. An outline of the first bytes alone may be refused because the rest is missing.
  virtual absl::Status Look(CookContext& context, LookDepth depth, FileLook& look) = 0;
};

}  // namespace galley::worker
