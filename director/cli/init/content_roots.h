// ChooseRoots: the folders that become mounts. Pure.
//
// - Where most of what can be cooked lies in folders with names such as `assets`, these become
//   mounts, and so do other folders that hold a good part.
// - Otherwise it is the deepest folder that holds all packages, not counting folders such as
//   `docs`.
//
// The mount with the most is "/Game", others have the names of their folders; of `mods/x/assets`
// that is "/x".
#pragma once

#include <string>
#include <vector>

#include "director/cli/init/judge_file.h"

namespace galley::init {

struct Root {
  std::string path;               // virtual: "/Game"
  std::string folder;             // relative; "" is the whole tree
  bool has_content_name = false;  // such as `assets`
};

// At least one; "/Game" is the first. No root contains another one.
std::vector<Root> ChooseRoots(const std::vector<Judged>& files);

// The root that holds a path; nullptr when none does.
const Root* RootOf(const std::vector<Root>& roots, std::string_view path);
// REQUIRES: `root` holds `path`.
std::string VirtualPath(const Root& root, std::string_view path);

}  // namespace galley::init
