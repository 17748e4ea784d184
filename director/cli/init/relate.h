// Relate: what files say about each other. Changes the decisions that JudgeFile took for each
// alone.
//
// - What lies outside of the mounts, or is a link out of its mount, is left out.
// - Files that were built from a source beside them that is cooked are left out, and so are the
//   editors' notes (x.png.import).
// - A shader whose includes are found, and which is Vulkan GLSL with them, is cooked; what it
//   includes is read, and is no package. Another one is copied with what it includes.
// - Buffers of glTF that is cooked are read; what materials and JSON refer to is a package.
// - Images get their use: by the slot of a glTF material, else by their pixels, of which names say
//   which are worth a look; by name alone where nobody looks. Grids of data are kept without loss.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "director/cli/init/content_roots.h"
#include "director/cli/init/judge_file.h"
#include "director/cli/init/looker.h"
#include "director/cli/init/survey.h"

namespace galley::init {

// So many images are decoded for the guess of their use: those with a name that suggests one, some
// of each group of names, then the others, small ones first.
inline constexpr size_t kImagesLookedAtMax = 1'000;

struct Relations {
  std::set<std::string> include_folders;  // virtual: what shaders need as include_dirs
  // Images with a use: path -> the end of the name, "/" and the stem when it is the whole name.
  std::map<std::string, std::string> endings;
  std::vector<std::string> named_only;   // like normal maps, and their pixels are none
  std::vector<std::string> may_be_data;  // images; nothing was set for them
  size_t images = 0;                     // taken by the texture cooker
  size_t images_decoded = 0;             // by the texture cooker
  std::map<std::string, std::string> folders_left_out;  // virtual path -> reason
  bool wants_late_spirv = false;
};

// `files` are sorted by path. `looker` may be null: then texts and names decide.
Relations Relate(const std::vector<Root>& roots, const std::map<std::string, std::string>& links,
                 std::vector<Judged>& files, Looker* looker);

}  // namespace galley::init
