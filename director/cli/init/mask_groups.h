// FindMaskGroups: images whose names end in an unknown word, beside a picture whose name has the
// same beginning: `cab_tc.png` beside `cab.png`. Their pixels say whether they are masks. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "director/cli/init/judge_file.h"
#include "director/cli/init/looker.h"

namespace galley::init {

// Returns "_tc" for "cab_tc.png"; "" if the last word is long, has characters other than letters,
// or is the only word.
std::string LastWord(std::string_view path);

// Returns groups of at least three images by last word ("_tc"), in lower case. Beside every image
// there is a picture with the same beginning and another last word. `images`: images without a
// known use.
std::map<std::string, std::vector<const Judged*>> FindMaskGroups(
    const std::vector<const Judged*>& images);

// Whether the word ends in "mask", or at least three images of the group have a look, and all these
// are grey and opaque.
bool AreMasks(const std::string& word, const std::vector<const Judged*>& group,
              const std::map<std::string, Look>& looks);

}  // namespace galley::init
