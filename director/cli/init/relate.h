// Relate: changes the decisions of JudgeFiles by relations between files.
//
// - Files outside of the mounts, files in folders for people, and links out of their mount are left
//   out.
// - Files that were built from a source beside them that is cooked are left out, and so are the
//   editors' notes (x.png.import).
// - A shader that is Vulkan GLSL and whose includes are found is cooked; its includes are read,
//   and are no packages. Any other shader is copied with its includes.
// - Buffers of cooked glTF files are read; files to which materials and JSON refer are packages.
// - Images get their use: by the slot of a glTF material, otherwise by their pixels, or by name
//   alone if they are not decoded; names also choose the images that are decoded. Grids of data
//   are kept without loss.
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

// The most images that are decoded to guess their use: images whose names suggest a use, then
// samples of each group of names, then other images, small images first.
inline constexpr size_t kImagesLookedAtMax = 1'000;

struct Relations {
  std::set<std::string> include_folders;  // virtual: include_dirs for shaders
  // Images with a use: path -> the end of the name; "/" and the stem if it is the whole name.
  std::map<std::string, std::string> endings;
  std::vector<std::string> named_only;   // named like normal maps, but other pixels
  std::vector<std::string> may_be_data;  // images without settings for data
  size_t images = 0;                     // images for the texture cooker
  size_t images_decoded = 0;             // images that were decoded to guess their use
  std::map<std::string, std::string> folders_left_out;  // virtual path -> reason
  bool wants_late_spirv = false;
};

// `files` are sorted by path. `looker` may be null: then texts and names decide.
Relations Relate(const std::vector<Root>& roots, const std::map<std::string, std::string>& links,
                 std::vector<Judged>& files, Looker* looker);

}  // namespace galley::init
