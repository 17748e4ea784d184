#include "director/resident/waiting_reads.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <variant>

#include "common/base/status_macros.h"
#include "director/core/effects.h"
#include "director/core/packages/package_data.h"
#include "director/devices/node_path.h"
#include "director/resident/standing_results.h"
#include "director/resident/store_answers.h"
#include "director/shell/stage_path.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kChanging = "the project changes all the time; ask again";

// The files in the node of a package; nullptr: the view has no such node.
PackageFilesPtr FilesInView(const KnownFiles& known, const std::string& package) {
  const devices::DeviceNode* const node = known.view->nodes.Find(devices::NodeKeyOf(package));
  if (node == nullptr) return nullptr;
  auto files = std::make_shared<PackageFiles>();
  const size_t name_size = devices::LastName(package).size();
  for (const tree::TreeFile& file : node->files)
    files->outputs.push_back({file.path.substr(name_size), file.digest, file.is_executable});
  files->generated = node->generated;
  const PackageFilesPtr cooked = known.cooked.TableOf(known.platform)->Find(package);
  if (cooked != nullptr && cooked->outputs == files->outputs) files->key = cooked->key;
  return files;
}

PackageFilesPtr StaticFilesOf(const KnownFiles& known, const std::string& package) {
  const ShownPlatform* const platform = known.shown.Find(known.platform);
  if (!known.has_static || platform == nullptr) return nullptr;
  const std::optional<devices::StaticFile> file = SmallCopyOf(known.shown, *platform, package);
  if (!file) return nullptr;
  auto files = std::make_shared<PackageFiles>();
  files->outputs.push_back({"", file->digest, file->is_executable});
  return files;
}

// nullptr: they are not known, or the store has lost one.
PackageFilesPtr FilesKnown(const KnownFiles& known, const std::string& package) {
  PackageFilesPtr files = StaticFilesOf(known, package);
  if (files == nullptr && known.view != nullptr) files = FilesInView(known, package);
  if (files == nullptr && known.has_table)
    files = known.cooked.TableOf(known.platform)->Find(package);
  return files != nullptr && known.cooked.IsAnyLost(*files) ? nullptr : files;
}

// An owner of its own: the read of a package whatever its paths are. A generated package is cooked
// if its generator still lists it.
PathOwners OwnerOf(const ShownWorld& shown, const std::string& package) {
  PathOwner owner{.path = StagePath(*shown.world->project, package), .package = package};
  for (std::string_view name = GeneratorName(package); !name.empty(); name = GeneratorName(name))
    owner.generators.emplace_back(name);
  std::ranges::reverse(owner.generators);
  return {.owners = {std::move(owner)}};
}

}  // namespace

void FillKnown(const KnownFiles& known, PathRead& read) {
  bool is_more_known = true;
  while (is_more_known) {
    is_more_known = false;
    for (const std::string& package : read.Wanted()) {
      PackageFilesPtr files = FilesKnown(known, package);
      if (files == nullptr) continue;
      read.TakeFiles(package, std::move(files));
      is_more_known = true;
    }
  }
}

DeviceFile FileAnswerOf(const FoundFile& found, const std::vector<std::string>& known_tags) {
  DeviceFile file{.digest = found.output.digest,
                  .is_executable = found.output.is_executable,
                  .tag = FileTag(found.key, found.output.digest)};
  file.is_known = std::ranges::find(known_tags, file.tag) != known_tags.end();
  return file;
}

DeviceRefusal IsFolder(const std::string& path, const Digest& root) {
  DeviceRefusal refusal =
      Absent(fmt::format("{} is no file; it may be a folder of the root", path));
  refusal.root = root;
  return refusal;
}

DeviceRefusal RefusalOf(const PackageFault& fault) {
  return {.kind = fault.is_infrastructure ? RefusalKind::kInfrastructure : RefusalKind::kFailed,
          .text = fault.error,
          .package = fault.package,
          .log = fault.log,
          .cause = fault.cause};
}

DeviceRefusal RefusalOf(const devices::PathConflict& conflict) {
  return {.kind = RefusalKind::kFailed,
          .text = fmt::format("{} is made by several packages: {}", conflict.path,
                              fmt::join(conflict.packages, ", ")),
          .package = conflict.packages.front(),
          .cause = std::string(FailureCauseName(FailureCause::kProject))};
}

// ------------------------------------------------------------------ begin and end

WaitingReads::Read* WaitingReads::Find(uint64_t id) {
  const auto found = reads_.find(id);
  return found == reads_.end() ? nullptr : &found->second;
}

void WaitingReads::Begin(FileRead read, const ShownWorldPtr& shown) {
  if (deadlines_.size() >= kReadsMax)
    return read.call->Give(NotReady(fmt::format("{} requests wait already", kReadsMax)));
  const uint64_t id = ++last_id_;
  deadlines_.emplace(read.deadline, id);
  const std::shared_ptr<FileCall> call = read.call;
  reads_.emplace(id, Read{.ask = std::move(read), .shown = shown});
  call->OnCancel([this, id] {
    deps_.post([this, id] {
      if (Find(id) != nullptr) Remove(id);
    });
  });
  Plan(id);
}

void WaitingReads::Renew(const std::string& platform, const std::string& package,
                         const ShownWorldPtr& shown) {
  const auto [at, is_new] = renewals_.try_emplace({platform, package}, last_id_ + 1);
  if (!is_new) return;
  const uint64_t id = ++last_id_;
  reads_.emplace(id, Read{.ask = {.platform = platform, .path = package}, .shown = shown});
  Plan(id);
}

WaitingReads::Read WaitingReads::Remove(uint64_t id) {
  const auto found = reads_.find(id);
  Read read = std::move(found->second);
  reads_.erase(found);
  deadlines_.erase({read.ask.deadline, id});
  grown_.erase(id);
  if (read.is_renewal()) renewals_.erase({read.ask.platform, read.ask.path});
  for (const auto& [package, ask] : read.asks) deps_.present.Withdraw(ask);
  return read;
}

void WaitingReads::Finish(uint64_t id, const DeviceAnswer& answer) {
  const Read read = Remove(id);
  if (read.is_renewal()) {
    has_renewed_ = true;
  } else {
    read.ask.call->Give(answer);
  }
}

void WaitingReads::Expire(absl::Time now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    Finish(deadlines_.begin()->second,
           DeviceRefusal{.kind = RefusalKind::kDeadline, .text = "it was not cooked in time"});
  }
}

void WaitingReads::EndAll(const DeviceRefusal& refusal) {
  while (!reads_.empty()) Finish(reads_.begin()->first, refusal);
}

// ------------------------------------------------------------------ packages

void WaitingReads::Plan(uint64_t id) {
  Read& read = reads_.at(id);
  const ShownPlatform* const platform = read.shown->Find(read.ask.platform);
  if (platform == nullptr)
    return Finish(id, Absent(fmt::format("there is no platform {}", read.ask.platform)));
  if (read.is_renewal()) {
    read.path = PathRead(read.ask.path, OwnerOf(*read.shown, read.ask.path));
  } else if (read.ask.session.empty()) {
    read.path = PathRead(read.ask.path, platform->paths->OwnersOf(read.ask.path));
  } else {
    AskedOwners asked = OwnersInSession(*platform->paths, read.ask.path);
    read.path = PathRead(read.ask.path, std::move(asked.owners));
    read.is_folder = asked.is_folder;
  }
  Fill(read);
  WithdrawUnwanted(read);
  Advance(id);
}

// The tree of a session may have what an earlier director has cooked.
void WaitingReads::Fill(Read& read) {
  devices::DeviceViewPtr view;
  if (!read.ask.session.empty()) {
    const auto seen = deps_.shared.Renew(read.ask.session, deps_.now());
    const bool is_same =
        seen.ok() && seen->shown != nullptr && seen->shown->number == read.shown->number;
    if (is_same) view = seen->newest;
  }
  FillKnown({.shown = *read.shown,
             .platform = read.ask.platform,
             .cooked = deps_.cooked,
             .view = view.get(),
             .has_static = !read.ask.session.empty()},
            read.path);
}

void WaitingReads::WithdrawUnwanted(Read& read) {
  const std::vector<std::string> wanted = read.path.Wanted();
  for (auto at = read.asks.begin(); at != read.asks.end();) {
    const bool is_wanted = std::ranges::binary_search(wanted, at->first);
    if (!is_wanted) deps_.present.Withdraw(at->second);
    at = is_wanted ? std::next(at) : read.asks.erase(at);
  }
}

void WaitingReads::Advance(uint64_t id) {
  Fill(reads_.at(id));
  const std::vector<std::string> wanted = reads_.at(id).path.Wanted();
  if (wanted.empty()) return Decide(id);
  for (const std::string& package : wanted) {
    const Read* const read = Find(id);  // an ask that is refused ends the read
    if (read != nullptr && !read->asks.contains(package)) AskFor(id, package);
  }
}

void WaitingReads::AskFor(uint64_t id, const std::string& package) {
  const absl::StatusOr<uint64_t> ask = deps_.present.Ask(
      package, reads_.at(id).ask.platform, [this, id, package](const AskOutcome& outcome) {
        deps_.post([this, id, package, outcome] { TakeOutcome(id, package, outcome); });
      });
  if (!ask.ok()) return Finish(id, RefusalOf(ask.status()));
  reads_.at(id).asks[package] = *ask;
  // After the ask, so that the core never finds the package without anybody who wants it.
  deps_.note_wanted(reads_.at(id).ask.platform, package);
}

void WaitingReads::TakeOutcome(uint64_t id, const std::string& package, const AskOutcome& outcome) {
  if (Read* const read = Find(id)) read->asks.erase(package);
  if (const auto* done = std::get_if<AskSucceeded>(&outcome))
    return TakeSuccess(id, package, *done);
  if (Find(id) == nullptr) return;
  if (const auto* failed = std::get_if<AskFailed>(&outcome))
    return TakeFailure(id, package, *failed);
  const auto& aborted = std::get<AskAborted>(outcome);
  Finish(id, aborted.has_shell_ended
                 ? NotReady(aborted.reason)
                 : DeviceRefusal{.kind = RefusalKind::kInfrastructure, .text = aborted.reason});
}

// A result of which nobody waits any more is noted all the same.
void WaitingReads::TakeSuccess(uint64_t id, const std::string& package, const AskSucceeded& done) {
  const StoredResult& stored = *done.result;
  if (stored.result.is_verdict) {
    if (Find(id) == nullptr) return;
    return TakeFailure(id, package,
                       {.error = stored.result.error,
                        .log = stored.result.log ? stored.result.log->ToString() : "",
                        .cause = FailureCause::kVerdict,
                        .world = done.world});
  }
  if (deps_.take_result(done.world, stored.platform_name, package, stored)) {
    if (Find(id) != nullptr) Advance(id);
    return;
  }
  if (Find(id) == nullptr || !IsOfWorld(id, package, done.world)) return;
  deps_.take_result(done.world, stored.platform_name, package, stored);
  Advance(id);
}

void WaitingReads::TakeFailure(uint64_t id, const std::string& package, const AskFailed& failed) {
  if (!IsOfWorld(id, package, failed.world)) return;
  Read& read = reads_.at(id);
  const bool is_infrastructure = failed.is_infrastructure();
  if (!is_infrastructure) {
    deps_.shared.With([&](devices::DeviceSessions& sessions) {
      sessions.NoteFailed(read.ask.platform,
                          {.package = package, .error = failed.error, .log = failed.log},
                          deps_.now());
    });
  }
  read.path.TakeFault(package, {.package = package,
                                .error = failed.error,
                                .log = failed.log,
                                .cause = std::string(FailureCauseName(failed.cause)),
                                .is_infrastructure = is_infrastructure});
  Advance(id);
}

// False: the outcome is of another world; the package is asked for again, or the read has ended.
bool WaitingReads::IsOfWorld(uint64_t id, const std::string& package, const WorldPtr& world) {
  const ShownWorldPtr before = Find(id)->shown;
  if (world == before->world) return true;
  deps_.follow();
  const Read* const read = Find(id);
  if (read == nullptr) return false;
  if (world == read->shown->world) return true;
  // A read that has moved to a newer world has asked again.
  if (read->asks.contains(package) || !CountMove(id)) return false;
  AskFor(id, package);
  return false;
}

// False: the read has moved often enough, and is over.
bool WaitingReads::CountMove(uint64_t id) {
  if (++reads_.at(id).moves <= kMovesMax) return true;
  Finish(id, NotReady(std::string(kChanging)));
  return false;
}

// ------------------------------------------------------------------ worlds

void WaitingReads::OnWorld(const ShownWorldPtr& shown) {
  std::vector<uint64_t> ids;
  for (const auto& [id, read] : reads_) ids.push_back(id);
  for (const uint64_t id : ids) {
    if (Find(id) != nullptr) Move(id, shown);
  }
}

void WaitingReads::Move(uint64_t id, const ShownWorldPtr& shown) {
  Read& read = reads_.at(id);
  const bool is_same = read.shown->number == shown->number;
  if (is_same) read.shown = shown;
  if (is_same) return;
  if (!read.ask.session.empty()) return deps_.take_superseded(Remove(id).ask);
  read.shown = shown;
  if (CountMove(id)) Plan(id);
}

// ------------------------------------------------------------------ answers

void WaitingReads::Decide(uint64_t id) {
  const PathOutcome outcome = reads_.at(id).path.Decide();
  if (const auto* found = std::get_if<FoundFile>(&outcome)) return TakeFile(id, *found);
  if (const auto* fault = std::get_if<PackageFault>(&outcome)) return TakeFault(id, *fault);
  if (const auto* absent = std::get_if<NoFile>(&outcome)) {
    if (reads_.at(id).is_folder && reads_.at(id).path.CookedFolderOwner()) return TakeFolder(id);
    return Finish(id, Absent(absent->text));
  }
  const auto& conflict = std::get<devices::PathConflict>(outcome);
  NoteConflict(reads_.at(id), conflict);
  Finish(id, RefusalOf(conflict));
}

void WaitingReads::NoteConflict(const Read& read, const devices::PathConflict& conflict) {
  if (std::exchange(conflicts_of_, read.shown->number) != read.shown->number) conflicts_.clear();
  if (!conflicts_.emplace(read.ask.platform, conflict.path).second) return;
  deps_.shared.With([&](devices::DeviceSessions& sessions) {
    sessions.NoteConflict(read.ask.platform, conflict);
  });
}

void WaitingReads::TakeFile(uint64_t id, const FoundFile& found) {
  const Read& read = reads_.at(id);
  if (!read.is_renewal()) deps_.note_read(read.ask.platform, found.package);
  if (read.ask.session.empty()) return Finish(id, FileAnswerOf(found, read.ask.known_tags));
  deps_.shared.NoteRead(read.ask.session, read.path.Packages());
  if (!SmallCopyOf(*read.shown, *read.shown->Find(read.ask.platform), found.package)) {
    deps_.add_known(read.ask.platform, found.package);
    grown_.insert_or_assign(id, found);
    return;
  }
  const auto seen = deps_.shared.Renew(read.ask.session, deps_.now());
  if (!seen.ok()) return Finish(id, RefusalOf(seen.status()));
  DeviceFile file = FileAnswerOf(found, read.ask.known_tags);
  file.root = seen->session.root;
  Finish(id, file);
}

void WaitingReads::TakeFolder(uint64_t id) {
  const Read& read = reads_.at(id);
  const std::string package = *read.path.CookedFolderOwner();
  deps_.note_read(read.ask.platform, package);
  deps_.shared.NoteRead(read.ask.session, read.path.Packages());
  deps_.add_known(read.ask.platform, package);
  grown_.insert_or_assign(id, CookedFolder{package});
}

void WaitingReads::TakeFault(uint64_t id, const PackageFault& fault) {
  const Read& read = reads_.at(id);
  if (!read.ask.session.empty()) {
    deps_.shared.NoteRead(read.ask.session, read.path.Packages());
    if (std::optional<DeviceFile> good = deps_.find_last_good(read.ask, read.path, fault))
      return Finish(id, *std::move(good));
  }
  Finish(id, RefusalOf(fault));
}

std::vector<std::pair<std::shared_ptr<FileCall>, DeviceAnswer>> WaitingReads::TakeGrown() {
  std::vector<std::pair<std::shared_ptr<FileCall>, DeviceAnswer>> answers;
  const std::map<uint64_t, Awaited> waiting = grown_;
  has_renewed_ = false;
  for (const auto& [id, awaited] : waiting) {
    std::optional<DeviceAnswer> answer = AdvanceSession(id, awaited);
    if (!answer) continue;
    answers.emplace_back(Remove(id).ask.call, *std::move(answer));
  }
  return answers;
}

// nullopt: the tree does not have it yet, or the session has ended.
std::optional<DeviceAnswer> WaitingReads::AdvanceSession(uint64_t id, const Awaited& awaited) {
  const FileRead& ask = reads_.at(id).ask;
  const auto seen = deps_.shared.Renew(ask.session, deps_.now());
  if (!seen.ok()) {
    Finish(id, RefusalOf(seen.status()));
    return std::nullopt;
  }
  if (seen->newest == nullptr) return std::nullopt;
  const std::optional<DeviceAnswer> answer = AnswerIn(*seen->newest, awaited, ask);
  if (!answer) return std::nullopt;
  const auto advanced = deps_.shared.With([&](devices::DeviceSessions& sessions) {
    return sessions.Advance(ask.session, seen->newest, deps_.now());
  });
  return advanced.ok() ? answer : std::nullopt;
}

// nullopt: the tree does not have it yet.
std::optional<DeviceAnswer> WaitingReads::AnswerIn(const devices::DeviceView& view,
                                                   const Awaited& awaited, const FileRead& ask) {
  if (const auto* const folder = std::get_if<CookedFolder>(&awaited)) {
    const bool is_there = view.nodes.Find(devices::NodeKeyOf(folder->package)) != nullptr;
    return is_there ? std::optional<DeviceAnswer>(IsFolder(ask.path, view.root)) : std::nullopt;
  }
  // A tree keeps the first result of a package, also where a second cook differs.
  FoundFile shown = std::get<FoundFile>(awaited);
  const devices::FileAnswer answer = view.Find(shown.package, shown.output.suffix);
  const auto* const cooked = std::get_if<devices::CookedFile>(&answer);
  if (cooked == nullptr) return std::nullopt;
  if (shown.output.digest != cooked->digest) shown.key = std::nullopt;
  shown.output.digest = cooked->digest;
  shown.output.is_executable = cooked->is_executable;
  DeviceFile file = FileAnswerOf(shown, ask.known_tags);
  file.root = view.root;
  return file;
}

}  // namespace galley::director
