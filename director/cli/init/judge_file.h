// JudgeFiles: decides what is done with each file, by its name and its cooker's description,
// without regard to other files.
#pragma once

#include <string>
#include <vector>

#include "director/cli/init/decision.h"
#include "director/cli/init/looker.h"
#include "director/cli/init/survey.h"
#include "director/cli/init/tree.h"

namespace galley::init {

struct Judged {
  File file;
  Decision decision;
  // The cooker's outline, if there is one; Relate gets the outlines of shaders and of texts that
  // shaders include.
  Look outline;
  bool is_pointer = false;  // a pointer of Git LFS: only the name decides
};

// Returns the decisions in the order of `files`. Reads the first bytes of files that are not
// decided by their names. `looker` may be null: then names decide which cooker takes a file.
std::vector<Judged> JudgeFiles(const Tree& tree, const std::vector<File>& files, Looker* looker);

// Whether the file is a text that a shader may include.
bool MayBeIncluded(const std::string& path);

}  // namespace galley::init
