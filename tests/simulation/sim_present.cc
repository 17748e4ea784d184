#include "tests/simulation/sim_present.h"

#include <utility>
#include <variant>
#include <vector>

#include "common/base/status_macros.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a part of it

namespace {

// Numbers of asks for plain files; PackageAsks begins at 1.
constexpr uint64_t kFirstPlainAsk = uint64_t{1} << 32;
constexpr int kCopyMsMax = 30;

}  // namespace

// ------------------------------------------------------------------ worlds

WorldPtr SimPresent::Present() const {
  const Snapshot& snapshot = deps_.director.snapshot();
  WorldPtr& world = worlds_[snapshot.table()];
  if (world == nullptr) world = deps_.worlds.Make(snapshot);
  return world;
}

// The files are on a disk that loses nothing, so that a tree may be made of them at any time.
void SimPresent::PutPlainFiles() const {
  for (const auto& [path, bytes] : DeviceWorlds::PlainFilesOf(deps_.director.files())) {
    const Digest digest = Digest::Of(bytes);
    if (!deps_.director.store().LocationOf(digest))
      static_cast<void>(deps_.director.fenced().Put(digest, bytes));
  }
}

absl::StatusOr<WorldPtr> SimPresent::Get() const {
  if (!is_ready_) return absl::UnavailableError("the files of the project are looked at");
  PutPlainFiles();
  return Present();
}

// A world at which nobody has looked for devices is another one than each of theirs.
WorldPtr SimPresent::WorldOf(const WorldPtr& told) const {
  if (told == deps_.director.world()) return Present();
  WorldPtr& world = worlds_[told->table_file];
  if (world == nullptr) world = told;
  return world;
}

absl::StatusOr<Digest> SimPresent::RulesOf(const director::World& world) const {
  std::string text;
  for (const project::Platform& platform : world.project->platforms) text += platform.name + "\n";
  return Digest::Of(text);
}

// ------------------------------------------------------------------ asks

absl::StatusOr<uint64_t> SimPresent::Ask(std::string package, std::string platform,
                                         PackageAsks::Callback callback) {
  if (!is_ready_) return absl::UnavailableError("the files of the project are looked at");
  if (DeviceWorlds::IsPlain(package)) return AskForPlain(package, platform, std::move(callback));
  return deps_.director.asks().Ask(std::move(package), std::move(platform),
                                   Translated(std::move(callback)));
}

absl::StatusOr<uint64_t> SimPresent::AskAhead(std::string package, std::string platform,
                                              PackageAsks::Callback callback) {
  if (!is_ready_) return absl::UnavailableError("the files of the project are looked at");
  if (DeviceWorlds::IsPlain(package)) return AskForPlain(package, platform, std::move(callback));
  return deps_.director.asks().AskAhead(std::move(package), std::move(platform),
                                        Translated(std::move(callback)));
}

void SimPresent::Withdraw(uint64_t ask) {
  if (ask >= kFirstPlainAsk) {
    plain_.erase(ask);
  } else {
    deps_.director.asks().Withdraw(ask);
  }
}

PackageAsks::Callback SimPresent::Translated(PackageAsks::Callback callback) const {
  return [this, life = std::weak_ptr(life_),
          callback = std::move(callback)](const AskOutcome& outcome) {
    if (!life.expired()) callback(Translate(outcome));
  };
}

AskOutcome SimPresent::Translate(const AskOutcome& outcome) const {
  AskOutcome translated = outcome;
  if (auto* const done = std::get_if<AskSucceeded>(&translated)) done->world = WorldOf(done->world);
  if (auto* const failed = std::get_if<AskFailed>(&translated))
    failed->world = WorldOf(failed->world);
  return translated;
}

uint64_t SimPresent::AskForPlain(const std::string& package, const std::string& platform,
                                 PackageAsks::Callback callback) {
  const uint64_t ask = kFirstPlainAsk + ++last_plain_;
  plain_.insert(ask);
  deps_.schedule.After(
      deps_.draws.Some(kCopyMsMax),
      [this, ask, package, platform, life = std::weak_ptr(life_), callback = std::move(callback)] {
        if (life.expired() || plain_.erase(ask) == 0) return;
        callback(CopyPlain(package, platform));
      });
  return ask;
}

AskOutcome SimPresent::CopyPlain(const std::string& package, const std::string& platform) const {
  const Files plain = DeviceWorlds::PlainFilesOf(deps_.director.files());
  const auto file = plain.find(package);
  if (file == plain.end()) {
    return AskFailed{.error = "unknown package '" + package + "'",
                     .cause = FailureCause::kProject,
                     .world = Present()};
  }
  const Digest digest = Digest::Of(file->second);
  if (const absl::Status put = deps_.director.fenced().Put(digest, file->second); !put.ok())
    return AskAborted{.reason = MessageOf(put)};
  auto stored = std::make_shared<StoredResult>();
  stored->package = package;
  stored->platform_name = platform;
  stored->result.outputs = {{"", digest}};
  stored->action_key = Digest::Of("a copy of " + digest.hex());
  return AskSucceeded{.result = std::move(stored), .world = Present()};
}

}  // namespace galley::simulation
