// TakeSurvey: lists the files of a tree, without the folders that no game loads.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "director/cli/init/tree.h"

namespace galley::init {

struct File {
  std::string path;
  uint64_t size_bytes = 0;
};

// A folder that was not searched, or an entry that no cook can use.
struct Omission {
  std::string path;
  std::string reason;
  bool is_hidden = false;  // its name begins with '.'
  bool is_folder = false;
  bool has_bad_name = false;  // its name cannot be written in galley.toml
};

struct Survey {
  std::vector<File> files;                   // sorted by path
  std::vector<Omission> omissions;           // sorted by path
  std::map<std::string, std::string> links;  // path -> where it leads
  bool is_cut = false;                       // there are more than `files_max`
};

// Reads no file. Never fails for one folder: a folder that cannot be read is an omission.
Survey TakeSurvey(const Tree& tree, size_t files_max);

}  // namespace galley::init
