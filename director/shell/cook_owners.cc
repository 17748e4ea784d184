#include "director/shell/cook_owners.h"

#include <utility>

#include "common/base/give_back_memory.h"
#include "common/store/local/segment_writer.h"
#include "director/shell/describe.h"
#include "director/shell/machines.h"

namespace galley::director {
namespace {

LookUpRunner::Options LookUpOptionsOf(const ShellOptions& options) {
  LookUpRunner::Options look_up = options.look_up;
  look_up.memory_bytes_default = options.memory_bytes_default;
  return look_up;
}

LimitAnswers::Options LimitOptionsOf(const ShellOptions& options) {
  return {.trust_domain = options.look_up.trust_domain,
          .retry_failed = options.look_up.retry_failed,
          .defaults = {options.memory_bytes_default, options.timeout_default},
          .machine = MachineIdentity() + " " + options.worker_build};
}

std::function<void(const StoredResultPtr&)> SenderTo(WriteBack* write_back) {
  if (write_back == nullptr) return nullptr;
  return [write_back](const StoredResultPtr& stored) { write_back->Add(stored); };
}

// Says whether the store's folder holds bytes for the blob at all.
bool LiesAtAll(store::Store& store, const Digest& digest, const store::BlobLocation& location) {
  const absl::StatusOr<store::StoreInfo> info = store.Info();
  return !info.ok() ||
         !absl::IsDataLoss(store::ReadBlobAt(info->directory, digest, location).status());
}

}  // namespace

CookOwners::CookOwners(const ShellGround& on, WorldPtr world, SharedTables& shared_tables,
                       WorkerSide sides, std::function<void()> check_fence)
    : ground(on),
      tables(shared_tables),
      workers(std::move(sides)),
      limits(
          on.options.state_directory, LimitOptionsOf(on.options),
          {.sources = [this] { return worlds.Sources(); },
           .reports = tables.reports,
           .clock = on.clock,
           .tasks = tasks,
           .may_write = on.options.may_write,
           .has_room = on.options.has_room,
           .warn = [this](const std::string& text) { Warn(record::WarningKind::kStore, text); }}),
      commits({.store = on.store,
               .journal = on.journal,
               .results = tables.results,
               .trace = on.trace,
               .clock = on.clock,
               .tasks = tasks,
               .inbox = on.inbox,
               .cooks = active,
               .reports = tables.reports,
               .send_back = SenderTo(on.options.write_back),
               .holds = [this] { return worlds.HoldsInLast(); },
               .committed =
                   [this](const std::vector<ResultId>& cooked) {
                     limits.WithdrawAll(tables.results, cooked);
                   },
               .keep_records = RecordKeeper()}),
      worlds({.term = on.options.core.term,
              .state_directory = on.options.state_directory,
              .may_write = on.options.may_write},
             {.store = on.store,
              .journal = on.journal,
              .clock = on.clock,
              .tasks = tasks,
              .inbox = on.inbox,
              .cooks = active,
              .commits = commits,
              .announce = [this](const World& present) { workers.announce(present); },
              .adopt_platforms =
                  [this](const World& present, const PlatformMap& map) {
                    return cooks.AdoptPlatforms(present, map);
                  },
              .kept_sources = on.options.kept_sources},
             std::move(world)),
      roots({.project_id = on.options.project_id, .keep_roots = on.options.keep_roots},
            {.store = on.store,
             .journal = on.journal,
             .results = tables.results,
             .clock = on.clock,
             .tasks = tasks,
             .root_tasks = root_tasks,
             .inbox = on.inbox,
             .commits = commits,
             .cooks = active,
             .world = [this] { return worlds.Get(); },
             .sources = [this] { return worlds.Sources(); }}),
      asks({.store = on.store,
            .journal = on.journal,
            .results = tables.results,
            .commit_tasks = tasks,
            .tasks = device_tasks,
            .inbox = on.inbox,
            .sources = [this] { return worlds.Sources(); },
            .world = [this] { return worlds.of_core(); }}),
      notices(NoticesDeps()),
      cooks(CooksDeps(std::move(check_fence))),
      questions({.core = on.core,
                 .inbox = on.inbox,
                 .cooks = active,
                 .name_of = [this](WorkerId worker) { return tables.attached.NameOf(worker); }}),
      repair({.store = on.store,
              .journal = on.journal,
              .tasks = tasks,
              .inbox = on.inbox,
              .cooks = active,
              .reports = tables.reports,
              .has_room = on.options.has_room,
              .lies_at =
                  [store = &on.store](const Digest& digest, const store::BlobLocation& at) {
                    return LiesAtAll(*store, digest, at);
                  }}),
      memory({.bytes_max = on.options.own_memory_bytes, .used = on.options.own_memory_used},
             {.core = on.core,
              .clock = on.clock,
              .inbox = on.inbox,
              .cooks = active,
              .give_back =
                  [this] {
                    tasks.Post(GiveBackMemory);
                    device_tasks.Post(GiveBackMemory);
                    root_tasks.Post(GiveBackMemory);
                    look_ups.GiveBackMemory();
                  }}),
      look_ups(LookUpDeps(), LookUpOptionsOf(on.options)) {}

std::function<void(std::span<const StoredResultPtr>)> CookOwners::RecordKeeper() {
  if (ground.options.kept_sources == nullptr) return nullptr;
  return [this](std::span<const StoredResultPtr> results) {
    ground.options.kept_sources->KeepRecords(*worlds.Get(), results);
  };
}

Notices::Deps CookOwners::NoticesDeps() {
  return {.core = ground.core,
          .results = tables.results,
          .clock = ground.clock,
          .inbox = ground.inbox,
          .cooks = active,
          .notes = commits.notes(),
          .ask_failures = commits.ask_failures(),
          .sources = [this] { return worlds.Sources(); },
          .name_of = [this](WorkerId worker) { return tables.attached.NameOf(worker); },
          .keep_limit = [this](const PackageFailed& failed) { return limits.Keep(failed); },
          .quarantine = workers.quarantine,
          .hold = workers.hold,
          .end_process = workers.end_process,
          .end_cook = [this](const std::shared_ptr<ActiveCook>& cook,
                             const CookEnded& ended) { cooks.End(cook, ended); },
          .end_ask = [this](const AskEnded& ended) { asks.TakeEnded(ended); }};
}

Cooks::Deps CookOwners::CooksDeps(std::function<void()> check_fence) {
  return {.core = ground.core,
          .journal = ground.journal,
          .clock = ground.clock,
          .tasks = tasks,
          .inbox = ground.inbox,
          .active = active,
          .commits = commits,
          .world = [this] { return worlds.Get(); },
          .sources = [this] { return worlds.Sources(); },
          .before_begin = [this](ActiveCook& cook) { BeforeBegin(cook); },
          .after_begin = std::move(check_fence),
          .before_close =
              [this](ActiveCook& cook) {
                cook.outcome.collections = tables.collections.Sum();
                workers.warn_of_programs(cook);
              },
          .after_close = [this] { AfterClose(); }};
}

LookUps::Deps CookOwners::LookUpDeps() {
  return {
      .sources = [this] { return worlds.Sources(); },
      .store = ground.store,
      .journal = ground.journal,
      .results = tables.results,
      .limits = limits.answers(),
      .clock = ground.clock,
      .remote = ground.options.remote,
      .reads = ground.options.farm_listen.empty() ? nullptr : &tables.reads,
      .alarm = [this](const std::string& text) { Warn(record::WarningKind::kRemoteStore, text); },
      .post = [this](Inbox::Task task) { ground.inbox.PostTask(std::move(task)); },
      .answer = [this](LookedUp answer) { ground.inbox.HandleNow(std::move(answer)); }};
}

CookOwners::~CookOwners() {
  DrainTasks();
  device_tasks.End();
  root_tasks.End();
  tasks.End();
}

// A task of devices may post one to the commit thread; a task of the commits one that builds a
// root; and the latter one to the commit thread, which may have the root built once more.
void CookOwners::DrainTasks() {
  device_tasks.Drain();
  for (int builds = 0; builds < 2; ++builds) {
    tasks.Drain();
    root_tasks.Drain();
  }
  tasks.Drain();
}

void CookOwners::Warn(record::WarningKind kind, const std::string& text) {
  ground.inbox.PostTask([this, kind, text] { active.Warn(kind, text); });
}

void CookOwners::BeforeBegin(ActiveCook& cook) {
  RetryWhatCooksAsk();
  if (cook.order.retry_failed) {
    tables.results.ForgetVerdicts();
    limits.kept().NoneIsNew();
  }
  workers.warn_of_held(cook);
}

void CookOwners::AfterClose() {
  if (active.empty()) workers.forget_programs();
  RetryWhatCooksAsk();
  ForgetOver();
}

void CookOwners::ForgetOverIfDue() {
  if (ground.clock.Monotonic() - forgot_at_ >= kForgetInterval) ForgetOver();
}

void CookOwners::ForgetOver() {
  forgot_at_ = ground.clock.Monotonic();
  tables.reports.ForgetUnless([this](AttemptId attempt) { return ground.core.Knows(attempt); });
  workers.forget_uploads();
}

// While one cook tries known failures again, no cook takes a known failure as an answer.
void CookOwners::RetryWhatCooksAsk() {
  look_ups.RetryFailed(active.IsAnyRetrying());
  limits.RetryFailed(active.IsAnyRetrying());
}

}  // namespace galley::director
