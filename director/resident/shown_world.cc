#include "director/resident/shown_world.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/tree/plain_name.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kCopy = "copy";

// The stamp of a file that cannot be used decides nothing.
std::array<uint64_t, 4> HashOf(const content::FileEntry& file) {
  const FileStat stat = file.error.empty() ? file.stat : FileStat();
  const Digest hash =
      Digest::Of(fmt::format("{}\n{}\n{} {} {} {}\n{}", file.path, file.host_path, stat.size_bytes,
                             stat.mtime_ns, stat.ctime_ns, stat.inode, file.error));
  std::array<uint64_t, 4> words{};
  std::memcpy(words.data(), hash.hash().data(), Digest::kHashSize);
  return words;
}

ShownWorldPtr MakeShown(uint64_t number, const WorldPtr& world, const FileSum& files,
                        const Digest& rules) {
  auto shown = std::make_shared<ShownWorld>();
  shown->number = number;
  shown->world = world;
  shown->files = files;
  shown->rules = rules;
  shown->identity = IdentityOf(*world, files, rules);
  const std::vector<project::Platform>& platforms = world->project->platforms;
  for (PlatformIndex i = 0; i < platforms.size(); ++i) {
    shown->platforms[platforms[i].name] = {
        .index = i, .paths = std::make_shared<const PathIndex>(world->table, i)};
  }
  return shown;
}

const project::ResolvedRecipe* RecipeOf(const ShownWorld& shown, const ShownPlatform& platform,
                                        const std::string& package) {
  const RecipesPtr recipes = shown.world->table->RecipesOf(package);
  return recipes == nullptr ? nullptr : &recipes->at(platform.index);
}

}  // namespace

void FileSum::Add(const content::FileEntry& file) {
  const std::array<uint64_t, 4> hash = HashOf(file);
  for (size_t i = 0; i < words.size(); ++i) words[i] += hash[i];
  ++count;
}

void FileSum::Remove(const content::FileEntry& file) {
  const std::array<uint64_t, 4> hash = HashOf(file);
  for (size_t i = 0; i < words.size(); ++i) words[i] -= hash[i];
  --count;
}

FileSum SumOf(const content::Snapshot& snapshot) {
  FileSum sum;
  for (const content::FileEntry& file : snapshot.files()) sum.Add(file);
  return sum;
}

Digest IdentityOf(const World& world, const FileSum& files, const Digest& rules) {
  std::string text =
      fmt::format("rules {}\nfiles {} {:x} {:x} {:x} {:x}\n", rules.ToString(), files.count,
                  files.words[0], files.words[1], files.words[2], files.words[3]);
  for (const auto& [name, value] : world.environment)
    text += fmt::format("environment {} {}{}\n", name.size(), name, value);
  return Digest::Of(text);
}

ShownWorldPtr ShowWorld(uint64_t number, const WorldPtr& world, const Digest& rules) {
  return MakeShown(number, world, SumOf(*world->snapshot), rules);
}

ShownWorldPtr ShowNext(const ShownWorld& before, uint64_t number, const WorldPtr& world,
                       const Digest& rules, std::span<const std::string> paths) {
  FileSum files = before.files;
  for (const std::string& path : paths) {
    if (const auto* const old = before.world->snapshot->Find(path)) files.Remove(*old);
    if (const auto* const now = world->snapshot->Find(path)) files.Add(*now);
  }
  return MakeShown(number, world, files, rules);
}

std::vector<std::string> CulturesIn(const ShownWorld& shown,
                                    const std::vector<std::string>& asked) {
  std::vector<std::string> there;
  const auto has_files = [&](const content::Mount& mount, const std::string& culture) {
    const std::string folder = fmt::format("{}/L10N/{}", mount.path, culture);
    return shown.world->snapshot->Kind(folder) == content::EntryKind::kFolder;
  };
  for (const std::string& culture : asked) {
    if (!tree::IsPlainSegment(culture)) continue;
    const bool is_there =
        std::ranges::any_of(shown.world->project->mounts,
                            [&](const content::Mount& mount) { return has_files(mount, culture); });
    if (is_there) there.push_back(culture);
  }
  return there;
}

devices::DeviceWorld DeviceWorldOf(const std::string& project_id, const ShownWorld& shown,
                                   const devices::Audience& audience) {
  return {.project = project_id,
          .platform = audience.platform,
          .cultures = audience.cultures,
          .identity = shown.identity};
}

bool IsSmallCopy(const ShownWorld& shown, const ShownPlatform& platform,
                 const std::string& package) {
  const content::FileEntry* const file = shown.world->snapshot->Find(package);
  if (file == nullptr || file->stat.size_bytes > devices::kStaticFileBytesMax) return false;
  const project::ResolvedRecipe* const recipe = RecipeOf(shown, platform, package);
  return recipe != nullptr && recipe->recipe.cooker == kCopy && recipe->outputs.always.size() == 1;
}

std::optional<devices::StaticFile> SmallCopyOf(const ShownWorld& shown,
                                               const ShownPlatform& platform,
                                               const std::string& package) {
  if (!IsSmallCopy(shown, platform, package)) return std::nullopt;
  const std::optional<Digest> digest = shown.world->snapshot->KnownDigest(package);
  if (!digest) return std::nullopt;
  return devices::StaticFile{.digest = *digest};
}

absl::StatusOr<std::optional<devices::ShownPackage>> ShowPackage(const ShownWorld& shown,
                                                                 const ShownPlatform& platform,
                                                                 const std::string& package,
                                                                 const Cancellation* stop) {
  const std::optional<PackagePaths> paths = platform.paths->PathsOf(package);
  const project::ResolvedRecipe* const recipe = RecipeOf(shown, platform, package);
  if (!paths || !paths->error.empty() || recipe == nullptr)
    return std::optional<devices::ShownPackage>();
  devices::ShownPackage shows{
      .package = package, .stage_path = paths->stem, .outputs = recipe->outputs};
  if (IsSmallCopy(shown, platform, package)) {
    const absl::StatusOr<Digest> digest = shown.world->snapshot->DigestOf(package, stop);
    if (absl::IsAborted(digest.status()) || absl::IsCancelled(digest.status()))
      return digest.status();
    // A file that cannot be read is a link: whoever asks for it gets the error.
    if (digest.ok()) shows.file = devices::StaticFile{.digest = *digest};
  }
  return std::optional<devices::ShownPackage>(std::move(shows));
}

absl::Status PutSmallCopies(const ShownWorld& shown,
                            std::span<const devices::ShownPackage> packages, store::Store& store,
                            const Cancellation* stop) {
  std::map<Digest, const std::string*> sources;
  std::vector<Digest> digests;
  for (const devices::ShownPackage& package : packages) {
    if (!package.file || !sources.emplace(package.file->digest, &package.package).second) continue;
    digests.push_back(package.file->digest);
  }
  if (digests.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, store.FindMissing(digests));
  for (const Digest& digest : missing) {
    if (stop != nullptr && stop->is_cancelled()) return absl::CancelledError("the director ends");
    ASSIGN_OR_RETURN(const content::Snapshot::Content content,
                     shown.world->snapshot->Read(*sources.at(digest)));
    if (content.digest != digest)
      return AbortedError("{} changes all the time", *sources.at(digest));
    RETURN_IF_ERROR(store.Put(digest, *content.bytes));
  }
  return absl::OkStatus();
}

devices::FoldPath FoldOfNames() {
  return [](std::string_view name) { return content::FoldName(name); };
}

}  // namespace galley::director
