// FindMaskGroups: images whose names end in a word that names no known use, and stand beside a
// picture of the same beginning: `cab_tc.png` beside `cab.png`. Their pixels say whether they are
// masks. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "director/cli/init/judge_file.h"
#include "director/cli/init/looker.h"

namespace galley::init {

// "_tc" of "cab_tc.png"; "" when the last word is long, has others than letters, or is the only
// one.
std::string LastWord(std::string_view path);

// By last word ("_tc"), in lower case; at least three images, all of them with a picture beside
// them whose name begins so and has another last word. `images`: those without a known use.
std::map<std::string, std::vector<const Judged*>> FindMaskGroups(
    const std::vector<const Judged*>& images);

// True when all of the group that was looked at is grey and opaque, or when the word ends in
// "mask".
bool AreMasks(const std::string& word, const std::vector<const Judged*>& group,
              const std::map<std::string, Look>& looks);

}  // namespace galley::init
