#include "director/resident/path_read.h"

#include <algorithm>
#include <utility>

#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "director/core/effects.h"
#include "fmt/format.h"

namespace galley::director {

AskedOwners OwnersInSession(const PathIndex& paths, std::string_view path) {
  AskedOwners asked{.owners = paths.OwnersOf(path)};
  // Any name may be that of a generated package. Another file is no folder.
  std::vector<PathOwner>& owners = asked.owners.owners;
  const auto is_generated = [](const PathOwner& owner) { return !owner.generators.empty(); };
  if (!std::ranges::all_of(owners, is_generated)) return asked;
  for (PathOwner& owner : paths.FolderOwnersOf(path).owners) {
    owners.push_back(std::move(owner));
    asked.is_folder = true;
  }
  return asked;
}

std::optional<std::string> PathRead::CookedFolderOwner() const {
  for (const PathOwner& owner : owners_.owners) {
    if (!PathIndex::IsOfFolder(owner)) continue;
    const auto known = known_.find(owner.package);
    if (known != known_.end() && std::holds_alternative<PackageFilesPtr>(known->second))
      return owner.package;
  }
  return std::nullopt;
}

std::vector<const PathOwner*> PathRead::All() const {
  std::vector<const PathOwner*> all;
  for (const PathOwner& owner : owners_.owners) all.push_back(&owner);
  for (const PathOwner& owner : owners_.twins) all.push_back(&owner);
  return all;
}

std::vector<std::string> PathRead::Packages() const {
  std::vector<std::string> packages;
  for (const PathOwner* const owner : All()) {
    packages.push_back(owner->package);
    packages.insert(packages.end(), owner->generators.begin(), owner->generators.end());
  }
  SortUnique(packages);
  return packages;
}

bool PathRead::HasGenerators() const {
  return std::ranges::any_of(All(),
                             [](const PathOwner* owner) { return !owner->generators.empty(); });
}

std::optional<std::string> PathRead::SuffixOf(const std::string& package) const {
  for (const PathOwner& owner : owners_.owners) {
    if (owner.package == package) return owner.suffix;
  }
  return std::nullopt;
}

// Twins alone do not have the path, whatever they make.
std::vector<std::string> PathRead::Wanted() const {
  std::vector<std::string> wanted;
  if (owners_.owners.empty()) return wanted;
  for (const PathOwner* const owner : All()) {
    const Judgement judgement = Judge(*owner);
    if (const auto* wants = std::get_if<Wants>(&judgement)) wanted.push_back(wants->package);
  }
  SortUnique(wanted);
  return wanted;
}

void PathRead::TakeFiles(const std::string& package, PackageFilesPtr files) {
  known_.insert_or_assign(package, std::move(files));
}

void PathRead::TakeFault(const std::string& package, PackageFault fault) {
  known_.insert_or_assign(package, std::move(fault));
}

// The stage path of a generator, or of a package that it generates, is the beginning of the owner's
// path: what follows the package's name follows there, too.
std::optional<PathRead::Judgement> PathRead::JudgeGenerators(const PathOwner& owner) const {
  const std::string stem = owner.path.substr(0, owner.path.size() - owner.suffix.size());
  for (size_t i = 0; i < owner.generators.size(); ++i) {
    const auto known = known_.find(owner.generators[i]);
    if (known == known_.end()) return Wants{owner.generators[i]};
    if (const auto* fault = std::get_if<PackageFault>(&known->second)) return *fault;
    const bool is_last = i + 1 == owner.generators.size();
    const std::string& next = is_last ? owner.package : owner.generators[i + 1];
    const std::string staged = stem.substr(0, stem.size() - (owner.package.size() - next.size()));
    if (!std::get<PackageFilesPtr>(known->second)->Generates(staged))
      return NoFile{fmt::format("{} does not generate {}", owner.generators[i], next)};
  }
  return std::nullopt;
}

PathRead::Judgement PathRead::Judge(const PathOwner& owner) const {
  if (!owner.error.empty()) {
    return PackageFault{.package = owner.package,
                        .error = owner.error,
                        .cause = std::string(FailureCauseName(FailureCause::kProject))};
  }
  if (std::optional<Judgement> generators = JudgeGenerators(owner)) return *std::move(generators);
  const auto known = known_.find(owner.package);
  if (known == known_.end()) return Wants{owner.package};
  if (const auto* fault = std::get_if<PackageFault>(&known->second)) return *fault;
  const PackageFilesPtr& files = std::get<PackageFilesPtr>(known->second);
  const record::Output* const output = files->Find(owner.suffix);
  if (output == nullptr)
    return NoFile{fmt::format("{} was cooked, and has no such output", owner.package)};
  return FoundFile{.package = owner.package, .output = *output, .key = files->key};
}

PathOutcome PathRead::Decide() const {
  std::optional<FoundFile> found;
  std::optional<PackageFault> fault;
  std::string text = fmt::format("no package makes {}", path_);
  std::vector<std::string> having;
  for (const PathOwner& owner : owners_.owners) {
    const Judgement judgement = Judge(owner);
    GALLEY_CHECK(!std::holds_alternative<Wants>(judgement));
    if (const auto* file = std::get_if<FoundFile>(&judgement)) {
      having.push_back(owner.package);
      found = *file;
    } else if (const auto* failed = std::get_if<PackageFault>(&judgement)) {
      if (!fault) fault = *failed;
    } else {
      text = std::get<NoFile>(judgement).text;
    }
  }
  if (found) {
    for (const PathOwner& twin : owners_.twins) {
      if (std::holds_alternative<FoundFile>(Judge(twin))) having.push_back(twin.package);
    }
  }
  SortUnique(having);
  if (having.size() > 1) return devices::PathConflict{.path = path_, .packages = std::move(having)};
  if (found) return *std::move(found);
  if (fault) return *std::move(fault);
  return NoFile{std::move(text)};
}

}  // namespace galley::director
