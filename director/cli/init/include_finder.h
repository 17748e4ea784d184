// IncludeFinder: finds the files that shaders include, and the folders that the shader cooker has
// to be told of. The names in the texts are the cooker's word (Look::includes).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "director/cli/init/content_roots.h"
#include "director/cli/init/judge_file.h"
#include "director/cli/init/looker.h"

namespace galley::init {

struct FoundIncludes {
  std::set<std::string> files;    // paths in the tree: also those that includes include
  std::set<std::string> folders;  // virtual: where includes are that are not beside the includer
};

class IncludeFinder {
 public:
  // `files` outlive this.
  IncludeFinder(const std::vector<Root>& roots, std::vector<Judged>& files);

  // Has outlines made of `shaders`, and of all that these include.
  void TakeOutlines(std::vector<Judged*> shaders, Looker& looker);
  // By the outlines that were made.
  FoundIncludes FindIncludes(const Judged& shader) const;

 private:
  // nullptr: nowhere. `folder` is set when it is not where the includer says.
  Judged* FindFile(std::string_view name, const Judged& includer, std::string& folder) const;
  Judged* FindElsewhere(std::string_view name, const Root& root, std::string& folder) const;

  const std::vector<Root>& roots_;
  std::map<std::string, Judged*, std::less<>> by_virtual_path_;
  std::multimap<std::string, std::string, std::less<>> by_name_;  // file name -> virtual path
};

}  // namespace galley::init
