// Relate: what files say about each other. Changes the decisions that JudgeFile took for each
// alone.
//
// - What lies outside of the mounts, or is a link out of its mount, is left out.
// - Files that were built from a source beside them that is cooked are left out, and so are the
//   editors' notes (x.png.import).
// - A shader whose includes are found, and which is Vulkan GLSL with them, is cooked; what it
//   includes is read, and is no package. Another one is copied with what it includes.
// - Buffers of glTF that is cooked are read; what materials and JSON refer to is a package.
// - Images get their use: by the slot of a glTF material, else by name.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "director/cli/init/content_roots.h"
#include "director/cli/init/judge_file.h"
#include "director/cli/init/survey.h"

namespace galley::init {

struct Relations {
  std::set<std::string> include_folders;       // virtual: what shaders need as include_dirs
  std::map<std::string, std::string> endings;  // of images whose use their name told
  std::map<std::string, std::string> folders_left_out;  // virtual path -> reason
  bool wants_late_spirv = false;
};

// `files` are sorted by path.
Relations Relate(const std::vector<Root>& roots, const std::map<std::string, std::string>& links,
                 std::vector<Judged>& files);

}  // namespace galley::init
