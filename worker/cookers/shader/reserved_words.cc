#include "worker/cookers/shader/reserved_words.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "fmt/format.h"
#include "worker/cookers/shader/word_lists.h"

namespace galley::worker {
namespace {

using Words = std::unordered_set<std::string_view>;

void AddWords(std::string_view list, Words& words) {
  while (!list.empty()) {
    const size_t begin = list.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return;
    list.remove_prefix(begin);
    const size_t end = std::min(list.find_first_of(" \n"), list.size());
    words.insert(list.substr(0, end));
    list.remove_prefix(end);
  }
}

// spirv-cross renames words of GLSL for each target. With these words here, it finds nothing to
// rename.
const Words& WordsOf(ShaderLanguage language) {
  static const Words kEssl = [] {
    Words words;
    AddWords(kGlslWords, words);
    AddWords(kGlslFunctions, words);
    return words;
  }();
  static const Words kMsl = [] {
    Words words = kEssl;
    for (const std::string_view list : {kCppWords, kMslWords, kMslTypes, kMslFunctions, kMslMacros})
      AddWords(list, words);
    return words;
  }();
  return language == ShaderLanguage::kMsl ? kMsl : kEssl;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Whether spirv-cross makes up such names for things without a name: _12, _12_a; members _m0.
bool IsMadeUp(std::string_view name) {
  if (name.size() < 2 || name[0] != '_') return false;
  return IsDigit(name[1]) ||
         (name[1] == 'm' && name.size() > 2 && std::all_of(name.begin() + 2, name.end(), IsDigit));
}

// Whether spirv-cross derives such names from other names in MSL: a texture's sampler, an image's
// buffer, and so on.
bool IsDerived(std::string_view name) {
  if (name.starts_with("main0")) return true;
  for (const std::string_view ending : {"Smplr", "Swzl", "BufferSize", "BuffSize", "_atomic"}) {
    if (!name.ends_with(ending)) continue;
    const std::string_view stem = name.substr(0, name.size() - ending.size());
    if (!stem.empty() && stem != "own") return true;  // own_atomic is the written name of `atomic`
  }
  return false;
}

// Whether C++ keeps the name for the compiler; Metal's headers use such names.
bool IsCompilers(std::string_view name) {
  return name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z';
}

// `name` with single underscores: two in a row are reserved in each of the languages.
std::string WithSingleUnderscores(std::string_view name) {
  std::string single;
  for (const char c : name) {
    if (c != '_' || single.empty() || single.back() != '_') single += c;
  }
  return single;
}

}  // namespace

bool IsReserved(ShaderLanguage language, std::string_view name) {
  if (language == ShaderLanguage::kSpirv) return false;
  if (name.starts_with("gl_") || name.starts_with("spv") || name.starts_with("SPIRV_CROSS_") ||
      IsMadeUp(name) || name.find("__") != std::string_view::npos ||
      WordsOf(language).contains(name)) {
    return true;
  }
  return language == ShaderLanguage::kMsl && (IsDerived(name) || IsCompilers(name));
}

std::string WrittenName(ShaderLanguage language, std::string_view name) {
  std::string_view bare = name;  // a reserved word with "own_" in front is a name of ours
  while (bare.starts_with(kOwnPrefix)) bare.remove_prefix(kOwnPrefix.size());
  if (!IsReserved(language, bare) && !IsReserved(language, name)) return std::string(name);
  return WithSingleUnderscores(fmt::format("{}{}", kOwnPrefix, name));
}

std::vector<std::string> WrittenMembers(ShaderLanguage language,
                                        const std::vector<std::string>& names) {
  std::vector<std::string> written;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    if (WrittenName(language, name) == name) taken.insert(name);
  }
  for (const std::string& name : names) {
    std::string each = WrittenName(language, name);
    if (each != name) {
      const std::string first = each;
      for (int number = 2; !taken.insert(each).second; ++number)
        each = fmt::format("{}_{}", first, number);
    }
    written.push_back(std::move(each));
  }
  return written;
}

}  // namespace galley::worker
