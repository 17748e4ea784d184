#include "director/resident/past_reads.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/tree/find_path.h"
#include "director/devices/node_path.h"
#include "director/resident/past_results.h"
#include "director/resident/standing_results.h"
#include "director/shell/project_sources.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kGenerated = "/_gen/";
constexpr std::string_view kGeneratedFolder = "/_gen";

// A file of a session is asked for again each time, with its tag, and does not move its root.
DeviceAnswer OfSession(DeviceAnswer answer, const devices::SessionView& session,
                       const FileRead& read) {
  auto* const file = std::get_if<DeviceFile>(&answer);
  if (file == nullptr) return answer;
  file->caching = FileCaching::kNoCache;
  file->root = session.root;
  file->is_known = std::ranges::find(read.known_tags, file->tag) != read.known_tags.end();
  return answer;
}

// True: the world has no such path, and never had.
bool IsAbsentForGood(const tree::FollowedPath& found, const std::string& path) {
  const bool is_dangling = std::holds_alternative<tree::DanglingLink>(found);
  if (path.ends_with(kGeneratedFolder)) return !is_dangling;
  if (std::holds_alternative<tree::FoundFolder>(found)) return true;
  return std::holds_alternative<tree::AbsentPath>(found) &&
         path.find(kGenerated) == std::string::npos;
}

}  // namespace

DeviceRefusal Superseded(const devices::SessionView& session, std::string text) {
  if (session.newest_root == Digest()) return NotReady("the project is being made ready");
  return {.kind = RefusalKind::kSuperseded, .text = std::move(text), .root = session.newest_root};
}

DeviceAnswer PastReads::Answer(const SharedSessions::Seen& seen, const FileRead& read,
                               const Cancellation& stop) {
  return seen.shown == nullptr ? AnswerFrozen(seen, read) : AnswerHeld(seen, read, stop);
}

DeviceAnswer PastReads::AnswerFrozen(const SharedSessions::Seen& seen, const FileRead& read) {
  const Digest& root = seen.session.root;
  const std::string path = fmt::format("{}/{}", devices::kStaticFolder, read.path);
  const auto found = tree::FollowLinks(root, path, deps_.answers.reader());
  if (absl::IsNotFound(found.status())) {
    return DeviceRefusal{.kind = RefusalKind::kGone,
                         .text = fmt::format("the root {} was collected", root.ToString())};
  }
  if (!found.ok()) return RefusalOf(found.status());
  // The file at `_gen` stands for a folder.
  const bool is_list = read.path.ends_with(kGeneratedFolder);
  if (std::holds_alternative<tree::TreeFile>(*found) && !is_list)
    return OfSession(deps_.answers.AnswerOf(*found, root), seen.session, read);
  if (auto generated = FindGenerated(seen, read)) return *std::move(generated);
  if (IsAbsentForGood(*found, read.path))
    return Absent(fmt::format("the session's world has no {}", read.path));
  return Superseded(seen.session, fmt::format("{} was not cooked in the session's world, which is "
                                              "not held any more",
                                              read.path));
}

std::optional<DeviceAnswer> PastReads::FindGenerated(const SharedSessions::Seen& seen,
                                                     const FileRead& read) const {
  const ShownWorldPtr present = deps_.shared.present();
  if (present == nullptr || read.path.find(kGenerated) == std::string::npos) return std::nullopt;
  const ShownPlatform* const platform = present->Find(read.platform);
  if (platform == nullptr) return std::nullopt;
  for (const PathOwner& owner : platform->paths->OwnersOf(read.path).owners) {
    const std::string path =
        fmt::format("{}/{}{}", devices::NodeFolder(devices::NodeKeyOf(owner.package)),
                    devices::LastName(owner.package), owner.suffix);
    const auto found = tree::FollowLinks(seen.session.root, path, deps_.answers.reader());
    if (found.ok() && std::holds_alternative<tree::TreeFile>(*found))
      return OfSession(deps_.answers.AnswerOf(*found, seen.session.root), seen.session, read);
  }
  return std::nullopt;
}

DeviceAnswer PastReads::AnswerHeld(const SharedSessions::Seen& seen, const FileRead& read,
                                   const Cancellation& stop) {
  // The session's own root may be of an earlier director, and not in memory.
  if (seen.session.view == nullptr) {
    DeviceAnswer frozen = AnswerFrozen(seen, read);
    if (std::holds_alternative<DeviceFile>(frozen)) return frozen;
  }
  const ShownPlatform* const platform = seen.shown->Find(read.platform);
  if (platform == nullptr) return Absent(fmt::format("there is no platform {}", read.platform));
  PathOwners owners = platform->paths->OwnersOf(read.path);
  if (auto cached = AnswerOfCache(seen, read, owners, stop)) return *std::move(cached);
  return Superseded(seen.session,
                    fmt::format("{} was not cooked in the session's world", read.path));
}

// Only a path of one package: others would have to be cooked, too.
std::optional<DeviceAnswer> PastReads::AnswerOfCache(const SharedSessions::Seen& seen,
                                                     const FileRead& read, const PathOwners& owners,
                                                     const Cancellation& stop) {
  const bool is_sole = owners.owners.size() == 1 && owners.twins.empty();
  if (!is_sole || !owners.owners[0].generators.empty() || !owners.owners[0].error.empty())
    return std::nullopt;
  const PathOwner& owner = owners.owners[0];
  const WorldPtr& world = seen.shown->world;
  const auto past =
      FindPastResult(deps_.store, deps_.journal,
                     {.package = owner.package,
                      .platform = seen.shown->Find(read.platform)->index,
                      .recipes = world->table->RecipesOf(owner.package),
                      .sources = std::make_shared<ProjectSources>(world, tools_, deps_.kept),
                      .trust_domain = deps_.trust_domain,
                      .read_trust = deps_.read_trust});
  if (!past.ok())
    LogWarning("package={} of an older world: {}", owner.package, MessageOf(past.status()));
  if (!past.ok() || !past->has_value()) return std::nullopt;
  if (!MayBeShown(*world, owner.package, (*past)->result)) return std::nullopt;
  for (const record::Output& output : (*past)->result.outputs) {
    if (output.suffix != owner.suffix) continue;
    DeviceAnswer answer = deps_.answers.MakeOutput((*past)->action_key, output, stop);
    if (std::holds_alternative<DeviceFile>(answer))
      return OfSession(std::move(answer), seen.session, read);
    const auto& refusal = std::get<DeviceRefusal>(answer);
    if (refusal.kind == RefusalKind::kGone) return std::nullopt;
    return answer;
  }
  return Absent(fmt::format("{} was cooked, and has no such output", owner.package));
}

}  // namespace galley::director
