// ChooseRoots: the folders that become mounts. Pure.
//
// - If most files to be cooked lie in folders with names such as `assets`, these folders become
//   mounts, and so do other top folders with a fair share of the files.
// - Otherwise the mount is the deepest folder that holds all packages, not counting folders such
//   as `docs`. If it has files of a build tool, and one of its folders holds nearly all files to
//   be cooked, the folders with a fair share become the mounts instead.
//
// The mount with the most files is "/Game"; the others have the names of their folders. The mount
// of `mods/x/assets` is "/x".
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

// Returns at least one root; "/Game" is the first. No root contains another root.
std::vector<Root> ChooseRoots(const std::vector<Judged>& files);

// The root that holds a path; nullptr when none does.
const Root* RootOf(const std::vector<Root>& roots, std::string_view path);
// REQUIRES: `root` holds `path`.
std::string VirtualPath(const Root& root, std::string_view path);

}  // namespace galley::init
