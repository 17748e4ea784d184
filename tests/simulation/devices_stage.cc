#include "tests/simulation/devices_stage.h"

#include <algorithm>
#include <utility>

#include "common/content/changes.h"
#include "director/devices/wanted_leases.h"
#include "director/resident/tree_build.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a director of it

namespace {

const std::string kProjectId = "project";
// Limits shrink, so that they are met.
constexpr size_t kWorldsMax = 3;
constexpr size_t kEventsMax = 4;
constexpr size_t kReadsMax = 6;

constexpr uint64_t kActsMin = 10, kActsMore = 40;
// Cooks begin within 3 s, and trouble comes within 4 s.
constexpr int kActsMs = 5'000;
constexpr uint64_t kLateActsMin = 8, kLateActsMore = 16;
constexpr int kLateActsMs = 2'500;
// Whoever was told of a blob this long ago has leased it, or does not need it.
constexpr absl::Duration kUnleasedMax = absl::Seconds(2);

}  // namespace

DevicesStage::DevicesStage(const Options& options, World world, std::pair<uint64_t, uint64_t> seeds)
    : AskingStage(options, std::move(world), seeds.first),
      device_draws_(seeds.second),
      worlds_(*world_),
      roots_({.world = *world_,
              .worlds = worlds_,
              .checks = checks_,
              .names = world_->packages.size()}),
      packages_(world_->packages.size()) {}

DevicesStage::~DevicesStage() { EndService(/*is_killed=*/true); }

DevicesStage::DeviceCounts DevicesStage::device_counts() const {
  DeviceCounts counts = device_counts_;
  counts.roots = roots_.all().size();
  return counts;
}

// ------------------------------------------------------------------ the service

// The devices of the last director ask this one.
void DevicesStage::RequestCook() {
  AskingStage::RequestCook();
  if (serves_devices_) StartService();
}

void DevicesStage::OnDirectorDying() { EndService(/*is_killed=*/true); }

void DevicesStage::StartService() {
  NoteWorldThen();
  told_at_.clear();
  director_->store().tells = [this](const Digest& blob) {
    if (!roots_.is_reading()) told_at_[blob] = schedule_.now();
  };
  threads_ = std::make_unique<SimDeviceThreads>(schedule_, device_draws_.Below(uint64_t{1} << 32),
                                                "s" + std::to_string(director_->term()));
  present_ = std::make_unique<SimPresent>(SimPresent::Deps{
      .director = *director_, .worlds = worlds_, .schedule = schedule_, .draws = device_draws_});
  // No source is kept, so that nothing can be made again.
  remaker_ = std::make_unique<Remaker>(
      director_->fenced(), [](std::string_view) { return std::string(); }, Remaker::Options());
  service_ = std::make_unique<DeviceService>(DeviceService::Deps{
      .present = *present_,
      .store = director_->fenced(),
      .journal = director_->journal(),
      .remaker = *remaker_,
      .threads = *threads_,
      .trust_domain = World::kTrustDomain,
      .read_trust = {},
      .sessions = {.project = kProjectId,
                   .changes = {.term = director_->term(), .events_max = kEventsMax},
                   .silence_max = kSilenceMax,
                   .worlds_max = kWorldsMax,
                   .reads_max = kReadsMax}});
  ResumeSessions();
  schedule_.After(device_draws_.Some(kNotReadyMsMax), [this, of = generation_] {
    if (of != generation_) return;
    present_->BeReady();
    service_->NoteWorld();
  });
  for (auto& [number, call] : calls_) {
    call.begun = schedule_.now();
    schedule_.After(absl::ZeroDuration(), [this, number = number, of = generation_] {
      if (of == generation_) SubmitRead(number);
    });
  }
  for (const auto& [number, opening] : openings_) SubmitOpening(number);
}

// The new director has the sessions of the last one.
void DevicesStage::ResumeSessions() {
  std::vector<std::string> ids;
  for (auto& [id, session] : sessions_) {
    session.last_event = {};
    ids.push_back(id);
  }
  for (const std::string& id : ids) {
    CheckSession(id, service_->RenewSession(id));
    device_counts_.resumed += sessions_.contains(id);
  }
}

// Streams end before the service, and the service before what it stands on.
void DevicesStage::EndService(bool is_killed) {
  if (service_ == nullptr) return;
  if (is_killed) {
    ++generation_;
    threads_->Kill();
  }
  for (auto& [id, session] : sessions_) session.stream.reset();
  for (auto& [number, call] : calls_) call.handle.reset();
  service_->Stop();
  ++generation_;
  service_.reset();
  remaker_.reset();
  present_.reset();
  threads_.reset();
  if (director_ != nullptr) director_->store().tells = nullptr;
}

void DevicesStage::NoteWorldThen() {
  history_.push_back(
      {.files = director_->files(), .platforms = director_->snapshot().platform_names()});
}

void DevicesStage::OnStepped(const Event& event, std::span<const Effect> effects) {
  AskingStage::OnStepped(event, effects);
  const bool is_of_world = std::holds_alternative<FilesChanged>(event) ||
                           std::holds_alternative<PlatformsChanged>(event);
  if (!is_of_world || service_ == nullptr) return;
  NoteWorldThen();
  service_->NoteWorld();
}

// A director tells its service of all that its cooks have done.
void DevicesStage::Take(uint64_t request, const Notice& notice) {
  AskingStage::Take(request, notice);
  const auto* done = std::get_if<PackageDone>(&notice);
  if (done != nullptr && service_ != nullptr)
    service_->NoteCooked(director_->results().Get(done->result));
}

// ------------------------------------------------------------------ what is planned

void DevicesStage::PlanDevices() {
  serves_devices_ = true;
  if (director_ != nullptr) StartService();
  PlanActs(kActsMin + device_draws_.Below(kActsMore), kActsMs);
}

void DevicesStage::PlanActs(uint64_t count, int64_t ms_max) {
  for (uint64_t i = count; i > 0; --i) {
    ++planned_acts_;
    schedule_.After(device_draws_.Some(ms_max), [this] {
      --planned_acts_;
      Act();
    });
  }
}

void DevicesStage::Act() {
  const uint64_t what = device_draws_.Below(100);
  if (what < 18) {
    OpenSome();
  } else if (what < 62) {
    ReadInSomeSession();
  } else if (what < 76) {
    BeginRead({.kind = Kind::kPresent,
               .platform = kPlatforms[device_draws_.Below(kPlatforms.size())],
               .path = RandomPath()});
  } else if (what < 82) {
    ReadInSomeRoot();
  } else if (what < 86) {
    CloseSome();
  } else if (what < 92) {
    ToggleStream();
  } else if (what < 95) {
    RenewSome();
  } else {
    Collect();
  }
}

// Files change, and platforms come and go, while no cook takes that in. The director may die.
void DevicesStage::PlanChanges() {
  for (uint64_t i = 1 + device_draws_.Below(3); i > 0; --i)
    schedule_.After(device_draws_.Some(kLateActsMs), [this] { Edit(); });
  if (device_draws_.Percent(30)) {
    for (const std::vector<std::string>& set :
         {std::vector<std::string>{"p1", "p0"}, std::vector<std::string>{"p0", "p1", "p2"}}) {
      schedule_.After(device_draws_.Some(kLateActsMs), [this, set] {
        if (director_ != nullptr) director_->ChangePlatforms(set);
      });
    }
  }
  if (device_draws_.Percent(35))
    schedule_.After(device_draws_.Some(kLateActsMs), [this] { Crash(); });
}

void DevicesStage::FinishDevices() {
  const auto is_over = [this] {
    return planned_acts_ == 0 && calls_.empty() && openings_.empty() && service_ != nullptr;
  };
  RunUntil(is_over, "a read of a device does not end");
  PlanActs(kLateActsMin + device_draws_.Below(kLateActsMore), kLateActsMs);
  PlanChanges();
  RunFor(absl::Milliseconds(kLateActsMs));
  RunUntil(is_over, "a read of a device does not end");
  RunUntil([this] { return director_ != nullptr && director_->files() == world_->files(); },
           "edits are not heard of");
  ReadEverything();
  FallSilent();
  EndService(/*is_killed=*/false);
}

// Sessions read every path, until each read comes to an end other than "later".
void DevicesStage::ReadEverything() {
  for (const std::string& platform : director_->snapshot().platform_names())
    Open({.ask = {.platform = platform, .cultures = {}, .root = std::nullopt}, .is_final = true});
  RunUntil([this] { return calls_.empty() && openings_.empty(); },
           "the last reads of devices do not end");
}

// Nobody asks for anything any more.
void DevicesStage::FallSilent() {
  for (auto& [id, session] : sessions_) session.stream.reset();
  RunFor(3 * kSilenceMax);
  RunUntil([this] { return director_ != nullptr && director_->asks().empty(); },
           "an ask of a device is left behind");
  if (!checks_.broken().empty()) return;
  CheckTreeLeases();
  for (const auto& [id, session] : sessions_) {
    if (std::holds_alternative<DeviceSessionState>(service_->RenewSession(id)))
      checks_.Break("safety: a session does not end by silence: " + id);
  }
  sessions_.clear();
  Collect();
}

// An audience has a tree in each world that is held, whether or not somebody was told of it.
void DevicesStage::CheckTreeLeases() {
  std::map<devices::Audience, size_t> trees;
  const std::vector<store::RootLease> leases = director_->store().Leases().value();
  for (const store::RootLease& lease : leases) {
    const auto owner = devices::ParseLeaseName(kProjectId, lease.name);
    if (!owner || !owner->session.empty())
      return checks_.Break("safety: a lease is left behind: " + lease.name);
    const absl::StatusOr<devices::DeviceWorld> world = WorldOfRoot(
        lease.root, [this](const Digest& digest) { return director_->store().Get(digest); });
    if (!world.ok() && IsLossPossible()) continue;
    if (!world.ok()) return checks_.Break("safety: a leased root is lost: " + lease.name);
    const size_t count = ++trees[{.platform = world->platform, .cultures = world->cultures}];
    if (count > kWorldsMax)
      return checks_.Break("safety: more trees of a platform are leased than worlds are held");
  }
}

// ------------------------------------------------------------------ the store

bool DevicesStage::IsLossPossible() const {
  return HasEverFired(Fault::kFilesDeleted) || HasEverFired(Fault::kSegmentLost);
}

bool DevicesStage::IsLeased(const Digest& root) {
  const auto leases = director_->store().Leases();
  return std::ranges::any_of(*leases, [&](const auto& lease) { return lease.root == root; });
}

bool DevicesStage::IsFresh(const Digest& blob) const {
  const auto told = told_at_.find(blob);
  return told != told_at_.end() && schedule_.now() - told->second < kUnleasedMax;
}

// The blobs that a collection leaves alone: what leases, published roots and results keep, and what
// somebody was told of lately. A leased root is whole.
std::set<Digest> DevicesStage::KeptBlobs() {
  SimStore& store = director_->store();
  std::set<Digest> kept = director_->ToldOrKnown();
  for (const auto& [path, bytes] : DeviceWorlds::PlainFilesOf(director_->files()))
    kept.insert(Digest::Of(bytes));
  const std::vector<store::RootLease> leases = store.Leases().value();
  for (const store::RootLease& lease : leases) {
    DeviceRoots::Closure closure = roots_.ClosureOf(lease.root, store);
    if (!closure.is_whole && !IsLossPossible())
      checks_.Break("safety: a root is leased and not whole: " + lease.name);
    kept.merge(closure.blobs);
  }
  const std::vector<store::PublishedRoot> published = store.Roots("").value();
  for (const store::PublishedRoot& root : published)
    kept.merge(roots_.ClosureOf(root.root, store).blobs);
  for (const auto& [root, known] : roots_.all()) {
    if (IsFresh(root)) kept.merge(roots_.ClosureOf(root, store).blobs);
  }
  return kept;
}

// Drops what was in trees, and nothing keeps.
void DevicesStage::Collect() {
  if (service_ == nullptr) return;
  SimStore& store = director_->store();
  const std::set<Digest> kept = KeptBlobs();
  std::set<Digest> seen;
  for (const auto& [root, known] : roots_.all()) seen.merge(roots_.ClosureOf(root, store).blobs);
  for (const Digest& blob : seen) {
    if (kept.contains(blob) || IsFresh(blob) || !store.LocationOf(blob)) continue;
    checks_.Trace("collected beside devices: " + blob.hex());
    checks_.collected.insert(blob);
    ++device_counts_.collected;
    store.Evict(blob);
  }
}

}  // namespace galley::simulation
