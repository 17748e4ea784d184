// IncludeFinder: finds the files that shaders include, and the folders that the shader cooker has
// to search for them. The cooker tells which names a text includes (Look::includes).
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
  std::set<std::string> files;    // paths in the tree, nested includes too
  std::set<std::string> folders;  // virtual paths, to be searched for includes
};

class IncludeFinder {
 public:
  // `roots` and `files` outlive this.
  IncludeFinder(const std::vector<Root>& roots, std::vector<Judged>& files);

  // Lets `looker` make outlines of `shaders` and of the files that they include.
  void TakeOutlines(std::vector<Judged*> shaders, Looker& looker);
  // REQUIRES: TakeOutlines.
  FoundIncludes FindIncludes(const Judged& shader) const;

 private:
  // nullptr: no such file. Sets `folder` if the file is only found by searching.
  Judged* FindFile(std::string_view name, const Judged& includer, std::string& folder) const;
  Judged* FindElsewhere(std::string_view name, const Root& root, std::string& folder) const;

  const std::vector<Root>& roots_;
  std::map<std::string, Judged*, std::less<>> by_virtual_path_;
  std::multimap<std::string, std::string, std::less<>> by_name_;  // file name -> virtual path
};

}  // namespace galley::init
