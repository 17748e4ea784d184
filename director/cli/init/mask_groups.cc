#include "director/cli/init/mask_groups.h"

#include <algorithm>
#include <set>

#include "director/cli/init/name_rules.h"

namespace galley::init {
namespace {

constexpr size_t kGroupMin = 3;
constexpr std::string_view kSeparators = "_-. ";

// Words for another look of the same picture, which may well be grey.
constexpr std::string_view kPictures[] = {
    "disabled", "inactive", "off",   "locked", "gray",  "grey", "greyed", "bw",  "shadow",
    "shade",    "dark",     "light", "black",  "white", "icon", "thumb",  "old", "preview"};

// The stems in a folder, in lower case.
using Stems = std::set<std::string, std::less<>>;

bool HasPictureBeside(const Stems& stems, std::string_view stem, const std::string& word) {
  const std::string_view base = stem.substr(0, stem.size() - word.size());
  for (auto at = stems.lower_bound(base); at != stems.end() && at->starts_with(base); ++at) {
    const bool is_of_it =
        at->size() == base.size() || kSeparators.find((*at)[base.size()]) != std::string_view::npos;
    if (is_of_it && !at->ends_with(word)) return true;
  }
  return false;
}

bool IsPictureWord(std::string_view word) {
  return std::find(std::begin(kPictures), std::end(kPictures), word.substr(1)) !=
         std::end(kPictures);
}

}  // namespace

std::string LastWord(std::string_view path) {
  constexpr size_t kLong = 12;
  const std::string_view stem = StemOf(path);
  const size_t at = stem.find_last_of("_-.");
  const bool is_word = at != std::string_view::npos && at > 0 && stem.size() - at <= kLong &&
                       stem.size() - at > 1 &&
                       std::all_of(stem.begin() + static_cast<ptrdiff_t>(at) + 1, stem.end(),
                                   [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; });
  return is_word ? std::string(stem.substr(at)) : "";
}

std::map<std::string, std::vector<const Judged*>> FindMaskGroups(
    const std::vector<const Judged*>& images) {
  std::map<std::string, Stems, std::less<>> folders;
  std::map<std::string, std::vector<const Judged*>> groups;
  for (const Judged* image : images) {
    folders[std::string(FolderOf(image->file.path))].insert(InLowerCase(StemOf(image->file.path)));
    const std::string word = InLowerCase(LastWord(image->file.path));
    if (!word.empty() && !IsPictureWord(word)) groups[word].push_back(image);
  }
  std::erase_if(groups, [&](const auto& group) {
    const auto& [word, members] = group;
    return members.size() < kGroupMin ||
           !std::ranges::all_of(members, [&, &word = word](const Judged* image) {
             const Stems& stems = folders.find(FolderOf(image->file.path))->second;
             return HasPictureBeside(stems, InLowerCase(StemOf(image->file.path)), word);
           });
  });
  return groups;
}

bool AreMasks(const std::string& word, const std::vector<const Judged*>& group,
              const std::map<std::string, Look>& looks) {
  if (word.ends_with("mask")) return true;
  size_t seen = 0;
  for (const Judged* image : group) {
    const auto look = looks.find(image->file.path);
    if (look == looks.end()) continue;
    ++seen;
    if (look->second.pixels != "grey" || look->second.has_alpha) return false;
  }
  return seen >= kGroupMin;
}

}  // namespace galley::init
