// IncludeFinder: fills the includes of shaders in, as the shader cooker would, and finds the
// folders that it has to be told of. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "director/cli/init/content_roots.h"
#include "director/cli/init/judge_file.h"

namespace galley::init {

struct ExpandedShader {
  std::string text;               // its own and what it includes
  std::set<std::string> files;    // included: paths in the tree
  std::set<std::string> folders;  // virtual: where includes are that are not beside the includer
  std::string missing;            // an include that is not in the tree; "" when there is none
};

class IncludeFinder {
 public:
  // `files` outlive this.
  IncludeFinder(const std::vector<Root>& roots, const std::vector<Judged>& files);

  // Depth, files and bytes are bounded: beyond the bounds the text is not complete.
  ExpandedShader Expand(const Judged& shader) const;

 private:
  void Append(const Judged& file, int depth, ExpandedShader& shader) const;
  // nullptr: nowhere.
  const Judged* Find(std::string_view name, const Judged& includer, ExpandedShader& shader) const;
  const Judged* FindElsewhere(std::string_view name, const Root& root,
                              ExpandedShader& shader) const;

  const std::vector<Root>& roots_;
  std::map<std::string, const Judged*, std::less<>> by_virtual_path_;
  std::multimap<std::string, std::string, std::less<>> by_name_;  // file name -> virtual path
};

}  // namespace galley::init
