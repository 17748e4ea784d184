#include "director/host/size_notes.h"

#include <algorithm>
#include <utility>

#include "common/base/human_bytes.h"
#include "common/content/name.h"
#include "director/core/packages/package_data.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kKindsTold = 5;
constexpr uint64_t kTimesTold = 4;
constexpr uint64_t kGrowthTold = 1 << 20;

uint64_t Grown(uint64_t source_bytes, uint64_t output_bytes) {
  return output_bytes > source_bytes ? output_bytes - source_bytes : 0;
}

// Returns the setting that makes the outputs of a cooker smaller.
std::string_view SettingOf(std::string_view cooker) {
  if (cooker == "texture")
    return "`settings = { max_size = 1024 }` in their rule bounds textures, and `zstd = 9` packs "
           "what is staged (docs/cookers/texture.md)";
  if (cooker == "audio")
    return "`bitrate` and `format` in the settings of their rule bound sounds "
           "(docs/cookers/audio.md)";
  if (cooker == "mesh")
    return "fewer `lods`, and `quantize = true`, in the settings of their rule make meshes smaller "
           "(docs/cookers/mesh.md)";
  return "`galley ls --sort size` lists the largest packages";
}

}  // namespace

void SizeNotes::Add(std::string_view package, std::string_view platform, uint64_t source_bytes,
                    uint64_t output_bytes) {
  const auto known = std::ranges::find(platforms_, platform);
  const auto number = static_cast<uint32_t>(known - platforms_.begin());
  if (known == platforms_.end()) platforms_.emplace_back(platform);
  Package& noted = packages_[std::string(package)];
  noted.kind = content::ExtensionOf(package);
  noted.is_generated = !GeneratorName(package).empty();
  noted.source_bytes = source_bytes;
  noted.outputs[number] = output_bytes;
}

void SizeNotes::Remove(std::string_view package) { packages_.erase(std::string(package)); }

uint64_t SizeNotes::Sum::largest() const {
  uint64_t most = source_bytes;
  for (const uint64_t bytes : outputs) most = std::max(most, bytes);
  return most;
}

void SizeNotes::AddTo(Sum& sum, const Package& package) const {
  sum.outputs.resize(platforms_.size());
  ++sum.packages;
  if (!package.is_generated) sum.source_bytes += package.source_bytes;
  for (const auto& [platform, bytes] : package.outputs) sum.outputs[platform] += bytes;
}

// Returns "3 packages, 1.2 MiB of sources -> android 0.5 MiB, windows 0.9 MiB".
std::string SizeNotes::TextOf(const Sum& sum) const {
  std::vector<std::pair<std::string, uint64_t>> outputs;
  for (size_t i = 0; i < platforms_.size(); ++i)
    outputs.emplace_back(platforms_[i], sum.outputs[i]);
  std::ranges::sort(outputs);
  std::string text =
      fmt::format("{} {}, {} of sources ->", sum.packages,
                  sum.packages == 1 ? "package" : "packages", HumanBytes(sum.source_bytes));
  for (size_t i = 0; i < outputs.size(); ++i)
    text +=
        fmt::format("{} {} {}", i == 0 ? "" : ",", outputs[i].first, HumanBytes(outputs[i].second));
  return text;
}

std::optional<SizeNotes::Growth> SizeNotes::FindGrowth() const {
  Growth most;
  for (uint32_t platform = 0; platform < platforms_.size(); ++platform) {
    Growth one{.platform = platforms_[platform]};
    std::map<std::string_view, uint64_t> grown;       // by kind
    std::pair<uint64_t, std::string_view> best = {};  // of the kind that grew most, a package
    for (const auto& [name, package] : packages_) {
      const auto output = package.outputs.find(platform);
      if (output == package.outputs.end()) continue;
      const uint64_t source_bytes = package.is_generated ? 0 : package.source_bytes;
      one.source_bytes += source_bytes;
      one.output_bytes += output->second;
      grown[package.kind] += Grown(source_bytes, output->second);
    }
    if (one.output_bytes < one.source_bytes * kTimesTold ||
        Grown(one.source_bytes, one.output_bytes) < kGrowthTold ||
        Grown(one.source_bytes, one.output_bytes) <= Grown(most.source_bytes, most.output_bytes))
      continue;
    one.kind = std::ranges::max_element(grown, [](const auto& a, const auto& b) {
                 return a.second < b.second;
               })->first;
    for (const auto& [name, package] : packages_) {
      const auto output = package.outputs.find(platform);
      if (package.kind != one.kind || output == package.outputs.end()) continue;
      best = std::max(best, {Grown(package.source_bytes, output->second), name});
    }
    one.package = best.second;
    most = std::move(one);
  }
  return most.platform.empty() ? std::nullopt : std::make_optional(std::move(most));
}

std::string TextOf(const SizeNotes::Growth& growth, std::string_view cooker) {
  return fmt::format(
      "the cooked files of {} are {} times as large as their sources: {} of {}, and {} grew most "
      "(as {}); {}",
      growth.platform, growth.output_bytes / std::max<uint64_t>(growth.source_bytes, 1),
      HumanBytes(growth.output_bytes), HumanBytes(growth.source_bytes),
      growth.kind.empty() ? "files without an extension" : "." + growth.kind, growth.package,
      SettingOf(cooker));
}

std::vector<std::string> SizeNotes::Lines() const {
  if (packages_.empty()) return {};
  Sum all;
  std::map<std::string, Sum> by_kind;
  for (const auto& [name, package] : packages_) {
    AddTo(all, package);
    AddTo(by_kind[package.kind], package);
  }
  std::vector<std::pair<std::string, Sum>> kinds(by_kind.begin(), by_kind.end());
  std::ranges::stable_sort(
      kinds, [](const auto& a, const auto& b) { return a.second.largest() > b.second.largest(); });
  std::vector<std::string> lines = {"sizes: " + TextOf(all)};
  if (kinds.size() == 1) return lines;
  for (size_t i = 0; i < std::min(kinds.size(), kKindsTold); ++i) {
    const std::string& kind = kinds[i].first;
    lines.push_back(fmt::format("  {}: {}", kind.empty() ? "no extension" : "." + kind,
                                TextOf(kinds[i].second)));
  }
  if (kinds.size() > kKindsTold)
    lines.push_back(fmt::format("  and {} smaller {} (`galley ls --sort size` lists all packages)",
                                kinds.size() - kKindsTold,
                                kinds.size() == kKindsTold + 1 ? "kind" : "kinds"));
  return lines;
}

}  // namespace galley::director
