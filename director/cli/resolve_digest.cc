#include "director/cli/resolve_digest.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/record/result.h"
#include "common/store/interface/pins.h"
#include "common/tree/linked_directory.h"
#include "director/cli/digest_prefix.h"
#include "director/host/near_names.h"
#include "director/journal/journal.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

constexpr std::string_view kPinPrefix = "pin:";
constexpr std::string_view kWhereRoots = "`galley roots` and `galley store pins` list them";
constexpr std::string_view kWhereDigests =
    "`galley roots`, `galley tree`, `galley records` and failures print them";

absl::StatusOr<Digest> ResolvePin(store::Store& store, std::string_view name) {
  ASSIGN_OR_RETURN(const std::vector<store::Pin> pins, store::Pins(store));
  std::vector<std::string> names;
  for (const store::Pin& pin : pins) {
    if (pin.name == name) return pin.root;
    names.push_back(pin.name);
  }
  return InvalidArgumentError("there is no pin \"{}\" (galley store pins lists them){}", name,
                              director::NearText(director::NearNames(name, names)));
}

// Named: published roots, newest first, and pins and leases as their roots.
struct Named {
  std::vector<store::PublishedRoot> roots;
  std::vector<store::Pin> pins;
  std::vector<store::RootLease> leases;
};
absl::StatusOr<Named> NamedRoots(store::Store& store, const std::string& project_id) {
  Named named;
  ASSIGN_OR_RETURN(named.roots, store.Roots(project_id));
  std::erase_if(named.roots,
                [](const auto& root) { return root.project_id == store::kPinProject; });
  ASSIGN_OR_RETURN(named.pins, store::Pins(store));
  ASSIGN_OR_RETURN(named.leases, store.Leases());
  return named;
}

std::string RootText(const store::PublishedRoot& root) {
  return fmt::format("root {}#{}", root.platform, root.sequence);
}

std::vector<std::string> PlatformsOf(const Named& named) {
  std::set<std::string> platforms;
  for (const store::PublishedRoot& root : named.roots) platforms.insert(root.platform);
  return {platforms.begin(), platforms.end()};
}

// If no root is of the platform, its name may be a slip.
std::string NearPlatform(const Named& named, std::string_view platform) {
  const std::vector<std::string> known = PlatformsOf(named);
  if (std::binary_search(known.begin(), known.end(), platform)) return "";
  return director::NearText(director::NearNames(platform, known));
}

absl::StatusOr<Digest> ByPrefix(const Named& named, std::string_view text) {
  DigestPrefix prefix(text);
  for (const store::PublishedRoot& root : named.roots) prefix.Offer(root.root, RootText(root));
  for (const store::Pin& pin : named.pins) prefix.Offer(pin.root, "pin " + pin.name);
  for (const store::RootLease& lease : named.leases)
    prefix.Offer(lease.root, "lease " + lease.name);
  if (prefix.is_valid()) return prefix.Found(kWhereRoots);
  return InvalidArgumentError(
      "\"{}\" names no root; expected <hex>/<size>, a unique prefix, PLATFORM@latest, "
      "PLATFORM@last, PLATFORM@N (N cooks ago), PLATFORM#N (number N) or pin:NAME ({})",
      text, kWhereRoots);
}

// A number too large for any root is a number that no root has.
std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || at != end || error == std::errc::invalid_argument) return std::nullopt;
  return error == std::errc::result_out_of_range ? UINT64_MAX : number;
}

absl::StatusOr<Digest> BySequence(const Named& named, std::string_view text, size_t mark) {
  const std::string_view platform = text.substr(0, mark);
  const std::optional<uint64_t> sequence = ParseNumber(text.substr(mark + 1));
  if (!sequence)
    return InvalidArgumentError("{}: expected a number after #, as `galley roots` prints it", text);
  std::optional<Digest> found;
  for (const store::PublishedRoot& root : named.roots) {
    if (root.platform != platform || root.sequence != *sequence) continue;
    if (found && *found != root.root) {
      return InvalidArgumentError(
          "{}: several projects of this store have such a root; run it in the project, or give a "
          "digest (galley roots lists them)",
          text);
    }
    found = root.root;
  }
  if (found) return *found;
  return InvalidArgumentError(
      "{}: no root has this number, or it is no longer kept (galley roots lists them){}", text,
      NearPlatform(named, platform));
}

absl::StatusOr<Digest> ByAge(const Named& named, std::string_view text, size_t mark) {
  const std::string_view platform = text.substr(0, mark), which = text.substr(mark + 1);
  if (which.starts_with("release:") || which.starts_with("dlc:") || which == "patch")
    return InvalidArgumentError("{}: not yet", text);
  const std::optional<uint64_t> number = ParseNumber(which);
  if (!number && which != "latest" && which != "last") {
    return InvalidArgumentError(
        "{}: expected latest, last, or a number of cooks ago after @ (PLATFORM#N is the root with "
        "number N)",
        text);
  }
  uint64_t ago = number.value_or(0);
  for (const store::PublishedRoot& root : named.roots) {
    if (root.platform != platform) continue;
    if (which == "latest" && !root.by_the_book) continue;
    if (ago-- > 0) continue;
    return root.root;
  }
  return InvalidArgumentError("{}: no such root was published (galley roots lists them){}", text,
                              NearPlatform(named, platform));
}

// Offers the files of a tree; skips folders that were offered before. Other commands report damaged
// or absent folders.
void OfferTree(store::Store& store, const Digest& root, const std::string& name,
               std::set<Digest>& seen, DigestPrefix& prefix) {
  std::vector<std::pair<Digest, std::string>> open = {{root, ""}};
  while (!open.empty()) {
    const auto [digest, path] = std::move(open.back());
    open.pop_back();
    if (!seen.insert(digest).second) continue;
    const absl::StatusOr<Blob> blob = store.Get(digest);
    if (!blob.ok()) continue;
    const auto directory = tree::DecodeLinkedDirectory(**blob);
    if (!directory.ok()) continue;
    for (const tree::FileNode& file : directory->files)
      prefix.Offer(file.digest, fmt::format("{}{} of {}", path, file.name, name));
    for (const tree::DirectoryNode& folder : directory->directories)
      open.emplace_back(folder.digest, path + folder.name + "/");
  }
}

void OfferRecord(std::string_view package, const director::PackageRecord& record,
                 DigestPrefix& prefix) {
  const auto offer = [&](const Digest& digest, std::string_view what, std::string_view platform) {
    prefix.Offer(digest, fmt::format("{} of {} ({})", what, package, platform));
  };
  for (const auto& [platform, one] : record.platforms) {
    offer(one.action_key, "key", platform);
    offer(one.weak_key, "weak key", platform);
    offer(one.source, "source", platform);
    offer(one.recipe, "recipe", platform);
    const auto result = record::DecodeResult(one.result);
    if (!result.ok()) continue;
    for (const record::Output& output : result->outputs) offer(output.digest, "output", platform);
    if (result->log) offer(*result->log, "log", platform);
  }
  for (const auto& [platform, failure] : record.failures) {
    if (const auto log = Digest::Parse(failure.log); log.ok()) offer(*log, "log", platform);
  }
}

absl::Status OfferJournal(const project::Project& project, DigestPrefix& prefix) {
  if (!FileExists(JoinPath(project.state_directory(), "journal"))) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto journal, director::Journal::Open(project.state_directory(), true));
  return journal->ForEach([&](std::string_view package, const director::PackageRecord& record) {
    OfferRecord(package, record, prefix);
  });
}

}  // namespace

absl::StatusOr<Digest> ResolveRoot(store::Store& store, const std::string& project_id,
                                   std::string_view text) {
  if (auto digest = Digest::Parse(text); digest.ok()) return *digest;
  if (text.starts_with(kPinPrefix)) return ResolvePin(store, text.substr(kPinPrefix.size()));
  ASSIGN_OR_RETURN(const Named named, NamedRoots(store, project_id));
  // A platform's name has neither mark.
  const size_t mark = text.find_first_of("@#");
  if (mark == std::string_view::npos) return ByPrefix(named, text);
  return text[mark] == '#' ? BySequence(named, text, mark) : ByAge(named, text, mark);
}

absl::StatusOr<Digest> ResolveDigest(const GlobalOptions& options, store::Store& store,
                                     std::string_view text) {
  if (auto digest = Digest::Parse(text); digest.ok()) return *digest;
  DigestPrefix prefix(text);
  if (!prefix.is_valid()) return prefix.Found(kWhereDigests);
  if (const auto project = OpenProject(options); project.ok())
    RETURN_IF_ERROR(OfferJournal(*project, prefix));
  ASSIGN_OR_RETURN(const Named named, NamedRoots(store, ""));
  std::set<Digest> seen;
  for (const store::PublishedRoot& root : named.roots) {
    prefix.Offer(root.root, RootText(root));
    OfferTree(store, root.root, RootText(root), seen, prefix);
  }
  for (const store::Pin& pin : named.pins) {
    prefix.Offer(pin.root, "pin " + pin.name);
    OfferTree(store, pin.root, "pin " + pin.name, seen, prefix);
  }
  for (const store::RootLease& lease : named.leases) {
    prefix.Offer(lease.root, "lease " + lease.name);
    OfferTree(store, lease.root, "lease " + lease.name, seen, prefix);
  }
  return prefix.Found(kWhereDigests);
}

}  // namespace galley::cli
