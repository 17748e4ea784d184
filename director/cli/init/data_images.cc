#include "director/cli/init/data_images.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "director/cli/init/name_rules.h"

namespace galley::init {
namespace {

constexpr size_t kFoldersMin = 3;
constexpr double kFlatShareMin = 0.6;
constexpr double kCompanionShareMin = 0.8;
// Smaller ones are icons.
constexpr uint64_t kDoubtfulSideMin = 48;

using Size = std::pair<uint64_t, uint64_t>;
using FilesOfLevels = std::map<std::string, std::vector<const Judged*>>;
using Looks = std::map<std::string, Look>;

Size SizeOf(const Judged& image) { return {image.outline.width, image.outline.height}; }

const Look* FindLook(const Looks& looks, const Judged& image) {
  const auto found = looks.find(image.file.path);
  return found == looks.end() || !found->second.takes ? nullptr : &found->second;
}

bool IsFlat(const Look& look) { return look.is_flat; }
bool IsFlatOrGrey(const Look& look) { return look.is_flat || look.pixels == "grey"; }

// The share of the images that were looked at; nullopt when these are too few.
std::optional<double> ShareOf(const std::vector<const Judged*>& images, const Looks& looks,
                              bool (*is)(const Look&)) {
  size_t seen = 0, count = 0;
  for (const Judged* image : images) {
    const Look* const look = FindLook(looks, *image);
    if (look == nullptr) continue;
    ++seen;
    count += is(*look) ? 1 : 0;
  }
  if (seen < kFoldersMin) return std::nullopt;
  return static_cast<double>(count) / static_cast<double>(seen);
}

// The sizes of the grids in each folder, and their names.
using GridSizes = std::map<std::pair<std::string, Size>, std::set<std::string, std::less<>>>;

bool IsCompanion(const std::vector<const Judged*>& images, const Looks& looks,
                 const GridSizes& grids) {
  size_t beside = 0;
  for (const Judged* image : images)
    beside += grids.contains({std::string(FolderOf(image->file.path)), SizeOf(*image)}) ? 1 : 0;
  return static_cast<double>(beside) >= kCompanionShareMin * static_cast<double>(images.size()) &&
         ShareOf(images, looks, IsFlatOrGrey).value_or(0) >= kCompanionShareMin;
}

// "ground-wet" beside "ground".
bool IsOtherForm(const Judged& image, const Look* look, const GridSizes& grids) {
  if (look != nullptr && !IsFlatOrGrey(*look)) return false;
  const auto grid = grids.find({std::string(FolderOf(image.file.path)), SizeOf(image)});
  const std::string_view stem = StemOf(image.file.path);
  const size_t end = stem.find_first_of("-_. ");
  return grid != grids.end() && end != std::string_view::npos &&
         grid->second.contains(stem.substr(0, end));
}

bool IsDoubtful(const Judged& image, const Look& look) {
  const std::string extension = Extension(image.file.path);
  if (extension == "jpg" || extension == "jpeg") return false;  // no data outlives it
  const auto [width, height] = SizeOf(image);
  if (std::min(width, height) < kDoubtfulSideMin) return false;
  const bool is_grey = look.pixels == "grey";
  if (is_grey && look.channel_bits == 16) return true;
  const uint64_t cells = width - 1;
  if (is_grey && width == height && (cells & (cells - 1)) == 0) return true;
  return look.is_flat && !is_grey;
}

}  // namespace

FilesOfLevels FindFilesOfLevels(const std::vector<const Judged*>& images) {
  FilesOfLevels files;
  for (const Judged* image : images) files[std::string(StemOf(image->file.path))].push_back(image);
  std::erase_if(files, [](const auto& entry) {
    std::set<Size> sizes;
    for (const Judged* image : entry.second) sizes.insert(SizeOf(*image));
    return entry.second.size() < kFoldersMin || sizes.size() < 2;
  });
  return files;
}

DataImages FindDataImages(const std::vector<const Judged*>& images, const Looks& looks) {
  DataImages data;
  const FilesOfLevels files = FindFilesOfLevels(images);
  GridSizes grids;
  const auto add = [&](const std::string& name, const std::vector<const Judged*>& group) {
    for (const Judged* image : group) {
      data.certain.insert(image->file.path);
      grids[{std::string(FolderOf(image->file.path)), SizeOf(*image)}].insert(name);
    }
  };
  for (const auto& [name, group] : files) {
    if (ShareOf(group, looks, IsFlat).value_or(0) >= kFlatShareMin) add(name, group);
  }
  std::vector<const FilesOfLevels::value_type*> companions;
  for (const auto& named : files) {
    if (IsCompanion(named.second, looks, grids)) companions.push_back(&named);
  }
  for (const auto* named : companions) add(named->first, named->second);
  for (const Judged* image : images) {
    const Look* const look = FindLook(looks, *image);
    if (data.certain.contains(image->file.path)) continue;
    if (IsOtherForm(*image, look, grids)) {
      data.certain.insert(image->file.path);
    } else if (look != nullptr && IsDoubtful(*image, *look)) {
      data.doubtful.insert(image->file.path);
    }
  }
  return data;
}

}  // namespace galley::init
