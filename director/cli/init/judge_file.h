// JudgeFiles: what is to be done with each file, by its name and what its cooker says of it,
// without a look at others.
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
  // The cooker's outline, where one was made; of shaders and texts that shaders include, Relate
  // has it made.
  Look outline;
  bool is_pointer = false;  // a pointer of Git LFS: the name alone says what it is
};

// In the order of `files`. Reads the first bytes of files that have no decision by their names.
// `looker` may be null: then names decide which cooker takes a file.
std::vector<Judged> JudgeFiles(const Tree& tree, const std::vector<File>& files, Looker* looker);

// Texts that a shader may include.
bool MayBeIncluded(const std::string& path);

}  // namespace galley::init
