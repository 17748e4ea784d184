#include "director/cli/init/texture_names.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>

#include "director/cli/init/name_rules.h"

namespace galley::init {
namespace {

struct Ending {
  std::string_view word;  // lower case, without what parts it from the rest
  NamedUse use;
  bool needs_sibling = false;  // the word has other meanings
  bool must_be_one = false;    // a single quantity, and a word for things that have pictures
};

constexpr Ending kEndings[] = {
    {"normal", NamedUse::kNormal},
    {"normals", NamedUse::kNormal},
    {"normalmap", NamedUse::kNormal},
    {"normal_map", NamedUse::kNormal},
    {"normal_gl", NamedUse::kNormal},
    {"normal_dx", NamedUse::kNormal},
    {"normalgl", NamedUse::kNormal},
    {"normaldx", NamedUse::kNormal},
    {"normal_opengl", NamedUse::kNormal},
    {"normal_directx", NamedUse::kNormal},
    {"nor_gl", NamedUse::kNormal},
    {"nor_dx", NamedUse::kNormal},
    {"nrm", NamedUse::kNormal},
    {"nm", NamedUse::kNormal},
    {"nml", NamedUse::kNormal},
    {"nrml", NamedUse::kNormal},
    {"nmap", NamedUse::kNormal},
    {"ddn", NamedUse::kNormal},
    {"norm", NamedUse::kNormal},
    {"nor", NamedUse::kNormal, true},
    {"n", NamedUse::kNormal, true},
    {"ddna", NamedUse::kNormal, true},
    {"local", NamedUse::kNormal, true},
    {"roughness", NamedUse::kMask},
    {"metallic", NamedUse::kMask},
    {"metalness", NamedUse::kMask},
    {"ao", NamedUse::kMask},
    {"occlusion", NamedUse::kMask},
    {"ambientocclusion", NamedUse::kMask},
    {"ambient_occlusion", NamedUse::kMask},
    {"glossiness", NamedUse::kMask},
    {"smoothness", NamedUse::kMask},
    {"height", NamedUse::kMask},
    {"heightmap", NamedUse::kMask},
    {"displacement", NamedUse::kMask},
    {"disp", NamedUse::kMask},
    {"opacity", NamedUse::kMask},
    {"rough", NamedUse::kPacked, true, true},
    {"rgh", NamedUse::kPacked, true, true},
    {"metal", NamedUse::kPacked, true, true},
    {"met", NamedUse::kPacked, true, true},
    {"gloss", NamedUse::kPacked, true},
    {"glossy", NamedUse::kPacked, true},
    {"glossmap", NamedUse::kPacked},
    {"spec", NamedUse::kPacked, true, true},
    {"specular", NamedUse::kPacked, true, true},
    {"alpha", NamedUse::kPacked, true, true},
    {"pbrdata", NamedUse::kPacked},
    {"bump", NamedUse::kPacked, true, true},
    {"mask", NamedUse::kPacked},
    {"masks", NamedUse::kPacked},
    {"colormask", NamedUse::kPacked},
    {"color_mask", NamedUse::kPacked},
    {"maskmap", NamedUse::kPacked},
    {"orm", NamedUse::kPacked},
    {"ormh", NamedUse::kPacked},
    {"rma", NamedUse::kPacked},
    {"mra", NamedUse::kPacked},
    {"occlusionroughnessmetallic", NamedUse::kPacked},
    {"metallicroughness", NamedUse::kPacked},
    {"metallic_roughness", NamedUse::kPacked},
    {"roughnessmetallic", NamedUse::kPacked},
    {"metalrough", NamedUse::kPacked},
    {"arm", NamedUse::kPacked, true},
    {"mr", NamedUse::kPacked, true},
};

// Endings of a picture that shows the colours of the same surface, beside "".
constexpr std::string_view kColors[] = {
    "d",        "dif",       "diff",       "diffuse", "albedo", "color", "colour", "col",
    "colormap", "basecolor", "base_color", "base",    "c",      "a",     "alb",    "bc"};

// Endings of masks that need a sibling: so many images with one, and more than there are without,
// prove what the word means in this tree. Shorter words prove nothing.
constexpr size_t kProvenBy = 3;
constexpr size_t kProvableLength = 4;

// Words beside which "normal" is the state of a control.
constexpr std::string_view kStates[] = {
    "hover",   "hovered", "pressed", "press",    "disabled", "active",    "focus",
    "focused", "down",    "over",    "selected", "clicked",  "highlight", "highlighted"};

bool IsSeparator(char c) { return c == '_' || c == '-' || c == '.' || c == ' '; }
bool IsLower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The stem without a resolution ("_2k", "_1024") and a number ("2") at its end.
std::string_view WithoutNumber(std::string_view stem) {
  std::string_view rest = stem;
  if (!rest.empty() && (rest.back() == 'k' || rest.back() == 'K')) {
    const size_t digit = rest.find_last_not_of("0123456789", rest.size() - 2);
    if (digit != std::string_view::npos && digit + 2 < rest.size() && IsSeparator(rest[digit]))
      return rest.substr(0, digit);
  }
  while (!rest.empty() && IsDigit(rest.back())) rest.remove_suffix(1);
  if (rest.size() < stem.size() && !rest.empty() && IsSeparator(rest.back())) rest.remove_suffix(1);
  return rest.empty() ? stem : rest;
}

struct Match {
  const Ending* ending = nullptr;
  size_t begin = 0;  // in the stem: of the separator, or of the word in CamelCase
};

std::optional<Match> MatchEnding(std::string_view stem) {
  const std::string_view body = WithoutNumber(stem);
  std::string plain = InLowerCase(body);
  std::replace_if(plain.begin(), plain.end(), IsSeparator, '_');
  std::optional<Match> best;
  for (const Ending& ending : kEndings) {
    if (body.size() <= ending.word.size() || !plain.ends_with(ending.word)) continue;
    const size_t begin = body.size() - ending.word.size();
    const bool is_parted = IsSeparator(body[begin - 1]);
    const bool is_camel = ending.word.size() >= 4 && IsUpper(body[begin]) &&
                          (IsLower(body[begin - 1]) || IsDigit(body[begin - 1])) &&
                          IsLower(body[begin + 1]);
    if ((!is_parted || begin < 2) && !is_camel) continue;
    const size_t at = is_parted ? begin - 1 : begin;
    if (!best || at < best->begin) best = Match{&ending, at};
  }
  return best;
}

// The stems in a folder, in lower case, with '_' for what parts words.
using Stems = std::set<std::string, std::less<>>;

std::string PlainStem(std::string_view stem) {
  std::string plain = InLowerCase(stem);
  std::replace_if(plain.begin(), plain.end(), IsSeparator, '_');
  return plain;
}

template <typename Words>
bool HasSibling(const Stems& stems, const std::string& base, const Words& words) {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) {
    return stems.contains(base + "_" + std::string(word));
  });
}

enum class Meaning { kMap, kOther, kDoubtful };

// A number may count the states of a thing as well as its surfaces.
Meaning MeaningOf(const Stems& stems, const std::string& base, const Ending& ending,
                  bool has_number) {
  if (ending.use == NamedUse::kNormal && HasSibling(stems, base, kStates)) return Meaning::kOther;
  if (!ending.needs_sibling && !has_number) return Meaning::kMap;
  if (stems.contains(base + "_e") && stems.contains(base + "_w")) return Meaning::kOther;
  const bool has_sibling = stems.contains(base) || HasSibling(stems, base, kColors);
  return has_sibling ? Meaning::kMap : Meaning::kDoubtful;
}

struct Found {
  const Judged* image;
  Match match;
  Meaning meaning;
};

// The words that are proven by the images that have a sibling.
std::set<std::string_view> FindProven(const std::vector<Found>& found) {
  std::map<std::string_view, size_t> maps, others;
  for (const Found& one : found) {
    const Ending& ending = *one.match.ending;
    if (ending.use != NamedUse::kNormal)
      ++(one.meaning == Meaning::kMap ? maps : others)[ending.word];
  }
  std::set<std::string_view> proven;
  for (const auto& [word, count] : maps) {
    if (count >= kProvenBy && count > others[word] && word.size() >= kProvableLength)
      proven.insert(word);
  }
  return proven;
}

}  // namespace

std::map<std::string, NamedTexture> FindTextureUses(const std::vector<const Judged*>& images) {
  std::map<std::string, Stems, std::less<>> stems_of_folder;
  for (const Judged* image : images) {
    Stems& stems = stems_of_folder[std::string(FolderOf(image->file.path))];
    stems.insert(PlainStem(StemOf(image->file.path)));
    stems.insert(PlainStem(WithoutNumber(StemOf(image->file.path))));
  }
  std::vector<Found> found;
  for (const Judged* image : images) {
    const std::string_view stem = StemOf(image->file.path);
    const std::optional<Match> match = MatchEnding(stem);
    if (!match) continue;
    const Stems& stems = stems_of_folder.find(FolderOf(image->file.path))->second;
    const bool has_number = !stem.empty() && IsDigit(stem.back());
    found.push_back(
        {image, *match,
         MeaningOf(stems, PlainStem(stem.substr(0, match->begin)), *match->ending, has_number)});
  }
  const std::set<std::string_view> proven = FindProven(found);
  std::map<std::string, NamedTexture> uses;
  for (const auto& [image, match, meaning] : found) {
    const Ending& ending = *match.ending;
    if (meaning == Meaning::kOther) continue;
    if (meaning == Meaning::kDoubtful && !proven.contains(ending.word)) continue;
    NamedUse use = ending.use;
    const Look& outline = image->outline;
    if (use == NamedUse::kNormal && (outline.is_grey || outline.has_palette)) continue;
    if (use == NamedUse::kPacked && outline.is_grey) use = NamedUse::kMask;
    uses[image->file.path] = {use, std::string(StemOf(image->file.path).substr(match.begin)),
                              ending.must_be_one};
  }
  return uses;
}

}  // namespace galley::init
