#include "director/devices/device_sessions.h"

#include <algorithm>
#include <iterator>

#include "common/base/errors.h"
#include "common/base/hex.h"
#include "common/base/sabotage.h"
#include "common/base/status_macros.h"

namespace galley::devices {
namespace {

std::string TreeLease(const std::string& project, const Digest& world_digest) {
  return LeaseName(project, {.tree = HexEncode(world_digest.hash())});
}

Audience AudienceOf(const DeviceWorld& world) {
  return {.platform = world.platform, .cultures = world.cultures};
}

}  // namespace

void DeviceSessions::BeginWorld(uint64_t world, absl::Time now) {
  GALLEY_CHECK(worlds_.empty() || world > worlds_.back());
  worlds_.push_back(world);
  if (worlds_.size() > options_.worlds_max) worlds_.pop_front();
  for (auto at = trees_.begin(); at != trees_.end();) {
    const auto tree = at++;
    if (tree->second.world < worlds_.front()) DropTree(tree);
  }
  DropIdleChannels();
  RenewLeases(now);
}

void DeviceSessions::DropIdleChannels() {
  for (auto at = channels_.begin(); at != channels_.end();) {
    const bool is_idle = at->second.sessions.empty() && !trees_.contains(at->second.newest_tree);
    // Numbers of a later channel of this audience are behind those of this one.
    if (is_idle) last_number_ = std::max(last_number_, at->second.log.last().number);
    at = is_idle ? channels_.erase(at) : std::next(at);
  }
}

void DeviceSessions::DropTree(std::map<Digest, Tree>::iterator at) {
  leases_.Drop(TreeLease(options_.project, at->first));
  for (auto& [id, session] : sessions_) {
    session.is_left_behind = session.is_left_behind || session.world_digest == at->first;
  }
  trees_.erase(at);
}

void DeviceSessions::SetNewest(DeviceViewPtr view, uint64_t world,
                               std::optional<WorldChange> changed, absl::Time now) {
  GALLEY_CHECK(view->world->project == options_.project);
  GALLEY_CHECK(std::ranges::find(worlds_, world) != worlds_.end());
  Tree& tree = trees_[view->world_digest];
  const bool is_known = tree.newest != nullptr;
  GALLEY_CHECK(!is_known || world > tree.world ||
               (world == tree.world && view->growth > tree.newest->growth));
  GALLEY_CHECK(!is_known || view->growth >= tree.newest->growth);
  const bool begins = !is_known || world > tree.world;
  tree = {.world = world, .newest = std::move(view)};
  leases_.Want(TreeLease(options_.project, tree.newest->world_digest), tree.newest->root, now);
  if (world != worlds_.back()) return;
  Channel& channel = ChannelOf(AudienceOf(*tree.newest->world));
  channel.newest_tree = tree.newest->world_digest;
  if (begins) {
    channel.log.NoteWorld(world, changed ? *std::move(changed) : WorldChange(), *tree.newest, now);
  } else {
    channel.log.NoteGrowth(*tree.newest, now);
  }
}

DeviceViewPtr DeviceSessions::NewestOf(const Digest& world_digest) const {
  const auto tree = trees_.find(world_digest);
  return tree == trees_.end() ? nullptr : tree->second.newest;
}

void DeviceSessions::LetGo(const Digest& world_digest) {
  const auto tree = trees_.find(world_digest);
  if (tree == trees_.end()) return;
  DropTree(tree);
  DropIdleChannels();
}

std::vector<Audience> DeviceSessions::Audiences() const {
  std::vector<Audience> audiences;
  for (const auto& [audience, channel] : channels_) {
    if (!channel.sessions.empty()) audiences.push_back(audience);
  }
  return audiences;
}

DeviceSessions::Channel& DeviceSessions::ChannelOf(const Audience& audience) {
  if (const auto at = channels_.find(audience); at != channels_.end()) return at->second;
  Channel channel{.log = ChangeLog(options_.changes, last_number_)};
  channel.woken = channel.log.last();
  return channels_.emplace(audience, std::move(channel)).first->second;
}

absl::StatusOr<DeviceSessions::Session*> DeviceSessions::SessionOf(const std::string& id) {
  const auto at = sessions_.find(id);
  if (at == sessions_.end()) return NotFoundError("no session {}: it ended, or never was", id);
  return &at->second;
}

absl::Status DeviceSessions::CheckOpen(const OpenSession& request) const {
  if (!IsSessionId(request.id)) return absl::InvalidArgumentError("no id of a session");
  if (sessions_.contains(request.id)) return AlreadyExistsError("session {} is open", request.id);
  if (sessions_.size() >= options_.sessions_max)
    return ResourceExhaustedError("{} sessions are open, the most there can be", sessions_.size());
  if (!request.at) {
    const auto channel = channels_.find(request.audience);
    const auto tree =
        channel == channels_.end() ? trees_.end() : trees_.find(channel->second.newest_tree);
    if (tree != trees_.end() && tree->second.world == worlds_.back()) return absl::OkStatus();
    return UnavailableError("the project is being made ready for platform {}",
                            request.audience.platform);
  }
  const DeviceWorld& world = request.at->world;
  if (world.project != options_.project)
    return InvalidArgumentError("the root is one of project {}, this is {}", world.project,
                                options_.project);
  if (AudienceOf(world) != request.audience)
    return InvalidArgumentError("the root is for platform {}, or for other cultures",
                                world.platform);
  return absl::OkStatus();
}

absl::StatusOr<SessionView> DeviceSessions::Open(const OpenSession& request, absl::Time now) {
  RETURN_IF_ERROR(CheckOpen(request));
  Channel& channel = ChannelOf(request.audience);
  Session session{.audience = request.audience,
                  .last_event = channel.log.last(),
                  .takes_last_good = request.takes_last_good};
  session.world_digest = request.at ? DigestOfWorld(request.at->world) : channel.newest_tree;
  const DeviceViewPtr newest = NewestOf(session.world_digest);
  session.root = request.at ? request.at->root : newest->root;
  if (newest != nullptr && newest->root == session.root) session.view = newest;
  const auto predecessor = sessions_.find(request.succeeds);
  if (predecessor != sessions_.end() && predecessor->second.audience == request.audience) {
    session.reads = predecessor->second.reads;
    for (const director::PackageId package : session.reads.packages()) channel.reads.Add(package);
  }
  channel.sessions.insert(request.id);
  Session& opened = sessions_.emplace(request.id, std::move(session)).first->second;
  NoteRequest(request.id, opened, now);
  return ViewOf(request.id, opened);
}

absl::StatusOr<SessionView> DeviceSessions::Renew(const std::string& id, absl::Time now) {
  ASSIGN_OR_RETURN(Session* const session, SessionOf(id));
  NoteRequest(id, *session, now);
  return ViewOf(id, *session);
}

void DeviceSessions::Close(const std::string& id) {
  if (const auto at = sessions_.find(id); at != sessions_.end()) End(at);
}

absl::Status DeviceSessions::BeginStream(const std::string& id, absl::Time now) {
  ASSIGN_OR_RETURN(Session* const session, SessionOf(id));
  ++session->streams;
  NoteRequest(id, *session, now);
  ChannelOf(session->audience).streaming.insert(id);
  return absl::OkStatus();
}

void DeviceSessions::EndStream(const std::string& id, absl::Time now) {
  const absl::StatusOr<Session*> session = SessionOf(id);
  if (!session.ok()) return;
  GALLEY_CHECK((*session)->streams > 0);
  if (--(*session)->streams == 0) ChannelOf((*session)->audience).streaming.erase(id);
  NoteRequest(id, **session, now);
}

absl::Status DeviceSessions::Advance(const std::string& id, const DeviceViewPtr& view,
                                     absl::Time now) {
  ASSIGN_OR_RETURN(Session* const session, SessionOf(id));
  GALLEY_CHECK(view->world_digest == session->world_digest);
  const bool is_newer = session->view == nullptr || view->growth > session->view->growth;
  if (is_newer && !session->is_left_behind) {
    session->view = view;
    session->root = view->root;
  }
  NoteRequest(id, *session, now);
  return absl::OkStatus();
}

void DeviceSessions::NoteRequest(const std::string& id, Session& session, absl::Time now) {
  ends_.erase(std::pair(session.ends, id));
  session.ends = session.streams > 0 ? absl::InfiniteFuture() : now + options_.silence_max;
  if (session.streams == 0) ends_.emplace(session.ends, id);
  LeaseRootOf(id, session, now);
}

void DeviceSessions::LeaseRootOf(const std::string& id, const Session& session, absl::Time now) {
  if (IsSabotaged(Sabotage::kForgetSessionLease)) return;
  const LeaseOwner owner{.session = id, .takes_last_good = session.takes_last_good};
  leases_.Want(LeaseName(options_.project, owner), session.root, now);
}

void DeviceSessions::End(Sessions::iterator at) {
  const Session& session = at->second;
  ends_.erase(std::pair(session.ends, at->first));
  leases_.Drop(LeaseName(options_.project,
                         {.session = at->first, .takes_last_good = session.takes_last_good}));
  Channel& channel = ChannelOf(session.audience);
  channel.sessions.erase(at->first);
  channel.streaming.erase(at->first);
  for (const director::PackageId package : session.reads.packages()) channel.reads.Remove(package);
  sessions_.erase(at);
}

void DeviceSessions::NoteRead(const std::string& id, director::PackageId package) {
  const absl::StatusOr<Session*> session = SessionOf(id);
  if (!session.ok()) return;
  const RecentPackages::Noted noted = (*session)->reads.Note(package, options_.reads_max);
  if (!noted.is_new) return;
  PackageCounts& counts = ChannelOf((*session)->audience).reads;
  counts.Add(package);
  if (noted.forgotten) counts.Remove(*noted.forgotten);
}

std::vector<director::PackageId> DeviceSessions::ReadAmong(
    const Audience& audience, std::span<const director::PackageId> changed) const {
  std::vector<director::PackageId> read;
  const auto channel = channels_.find(audience);
  if (channel == channels_.end()) return read;
  std::ranges::copy_if(changed, std::back_inserter(read), [&](director::PackageId package) {
    return channel->second.reads.Has(package);
  });
  return read;
}

void DeviceSessions::NoteFailed(const std::string& platform, const PackageFailure& failure,
                                absl::Time now) {
  for (auto& [audience, channel] : channels_) {
    if (audience.platform == platform) channel.log.NoteFailed(failure, now);
  }
}

void DeviceSessions::NoteHealed(const std::string& platform, const std::string& package,
                                absl::Time now) {
  for (auto& [audience, channel] : channels_) {
    if (audience.platform == platform) channel.log.NoteHealed(package, now);
  }
}

void DeviceSessions::NoteConflict(const std::string& platform, const PathConflict& conflict) {
  for (auto& [audience, channel] : channels_) {
    if (audience.platform == platform) channel.log.NoteConflict(conflict);
  }
}

absl::StatusOr<std::vector<ChangeEventPtr>> DeviceSessions::EventsSince(
    const std::string& id, std::optional<EventId> after) const {
  const auto at = sessions_.find(id);
  if (at == sessions_.end()) return NotFoundError("no session {}: it ended, or never was", id);
  return channels_.at(at->second.audience).log.Since(after.value_or(at->second.last_event));
}

std::vector<std::string> DeviceSessions::TakeWoken() {
  std::vector<std::string> woken;
  for (auto& [audience, channel] : channels_) {
    if (std::exchange(channel.woken, channel.log.last()) == channel.log.last()) continue;
    woken.insert(woken.end(), channel.streaming.begin(), channel.streaming.end());
  }
  std::ranges::sort(woken);
  return woken;
}

std::vector<std::string> DeviceSessions::Tick(absl::Time now) {
  std::vector<std::string> ended;
  while (!ends_.empty() && ends_.begin()->first <= now) {
    ended.push_back(ends_.begin()->second);
    End(sessions_.find(ended.back()));
  }
  for (auto& [audience, channel] : channels_) channel.log.Tick(now);
  if (now - renewed_ >= kBetweenRenewals) RenewLeases(now);
  return ended;
}

// Trees and sessions with streams have no requests that would renew their leases.
void DeviceSessions::RenewLeases(absl::Time now) {
  renewed_ = now;
  for (const auto& [world_digest, tree] : trees_)
    leases_.Want(TreeLease(options_.project, world_digest), tree.newest->root, now);
  for (const auto& [audience, channel] : channels_) {
    for (const std::string& id : channel.streaming) LeaseRootOf(id, sessions_.at(id), now);
  }
}

absl::Time DeviceSessions::ticks_at() const {
  absl::Time at = trees_.empty() ? absl::InfiniteFuture() : renewed_ + kBetweenRenewals;
  if (!ends_.empty()) at = std::min(at, ends_.begin()->first);
  for (const auto& [audience, channel] : channels_) at = std::min(at, channel.log.ticks_at());
  return at;
}

SessionStanding DeviceSessions::StandingOf(const Session& session) const {
  const auto tree = trees_.find(session.world_digest);
  if (tree == trees_.end() || session.is_left_behind) return SessionStanding::kFrozen;
  return tree->second.world == worlds_.back() ? SessionStanding::kPresent : SessionStanding::kHeld;
}

SessionView DeviceSessions::ViewOf(const std::string& id, const Session& session) const {
  const Channel& channel = channels_.at(session.audience);
  const auto newest = trees_.find(channel.newest_tree);
  const bool has_newest = newest != trees_.end();
  return {.id = id,
          .audience = session.audience,
          .root = session.root,
          .view = session.view,
          .world_digest = session.world_digest,
          .standing = StandingOf(session),
          .newest_root = has_newest ? newest->second.newest->root : Digest(),
          .newest_world = has_newest ? newest->second.world : 0,
          .last_event = channel.log.last(),
          .takes_last_good = session.takes_last_good};
}

}  // namespace galley::devices
