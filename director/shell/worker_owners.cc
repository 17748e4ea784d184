#include "director/shell/worker_owners.h"

#include <unistd.h>

#include <map>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/launch/worker_token.h"

namespace galley::director {

WorkerOwners::WorkerOwners(const ShellGround& on, SharedTables& shared_tables,
                           CookOwners& cook_owners)
    : ground(on),
      tables(shared_tables),
      cooks(cook_owners),
      log_book({.reports = tables.reports,
                .views = tables.views,
                .clocks = tables.clocks,
                .clock = on.clock},
               {.folder = JoinPath(on.options.state_directory, kWorkerLogsFolder),
                .may_write = on.options.may_write}),
      admission({.state_directory = on.options.state_directory,
                 .cookers_json = on.options.cookers_json,
                 .is_identity_binary = on.options.is_identity_binary,
                 .has_far_programs = on.options.has_far_programs,
                 .local_offer = on.options.core.local_offer,
                 .term = on.options.core.term,
                 .memory_bytes_default = on.options.memory_bytes_default,
                 .timeout_default = on.options.timeout_default,
                 .may_write = on.options.may_write},
                {.world = cooks.worlds.present(),
                 .store = on.store,
                 .clock = on.clock,
                 .workers = tables.attached,
                 .views = tables.views,
                 .log_book = log_book,
                 .tell_core = [this](Event event) { ground.inbox.PostEvent(std::move(event)); }}),
      bytes({.world = &cooks.worlds.present(),
             .reports = &tables.reports,
             .store = &on.store,
             .sources = [this] { return cooks.worlds.Sources(); },
             .state_directory = on.options.state_directory}),
      programs({.state_directory = on.options.state_directory,
                .world = cooks.worlds.present(),
                .workers = tables.attached,
                .clock = on.clock}),
      streams(
          {.core = on.core,
           .results = tables.results,
           .reports = tables.reports,
           .store = on.store,
           .journal = on.journal,
           .sources = [this] { return cooks.worlds.Sources(); },
           .reads = &tables.reads,
           .notes = cooks.commits.notes(),
           .name_of = [this](WorkerId worker) { return tables.attached.NameOf(worker); },
           .has_files =
               [this](const std::string& worker) { return tables.attached.HasFiles(worker); },
           .note_given = [this](const Streams::Given& given) { NoteGiven(given); },
           .send = [this](const std::string& worker,
                          v1::ToWorker message) { service->Send(worker, std::move(message)); }}),
      notices({.core = on.core,
               .clock = on.clock,
               .attached = tables.attached,
               .views = tables.views,
               .admission = admission,
               .log_book = log_book,
               .sources = [this] { return cooks.worlds.Sources(); },
               .hang_up = [this](const std::string& worker) { service->HangUp(worker); }}),
      workers(
          {.store = on.store,
           .results = tables.results,
           .clock = on.clock,
           .inbox = on.inbox,
           .worlds = cooks.worlds,
           .reports = tables.reports,
           .bytes = bytes,
           .attached = tables.attached,
           .views = tables.views,
           .clocks = tables.clocks,
           .log_book = log_book,
           .admission = admission,
           .collections = tables.collections,
           .programs = programs,
           .notes = cooks.commits.notes(),
           .repair = cooks.repair,
           .peer_of = [this](const std::string& worker) { return service->PeerOfWorker(worker); },
           .send = [this](const std::string& worker,
                          v1::ToWorker message) { service->Send(worker, std::move(message)); },
           .on_launched_attached =
               [this](const std::string& worker) { launches->NoteAttached(worker); },
           .on_goodbye =
               [this](const std::string& worker) {
                 tables.ForgetWorker(worker);
                 launches->EndLaunched(worker);
               }}) {}

void WorkerOwners::NoteGiven(const Streams::Given& given) {
  const AttemptId attempt = given.start.attempt;
  programs.NoteGiven(attempt, given.info);
  if (!given.has_files) bytes.NoteGiven(given.worker, attempt);
  tables.views.Given(given.worker, attempt,
                     {.package = given.info.name, .given = ground.clock.Now()});
}

absl::Status WorkerOwners::Start() {
  RETURN_IF_ERROR(OpenService());
  if (!ground.options.farm_listen.empty()) RETURN_IF_ERROR(ListenToFarm());
  MakeLaunches();
  presence = std::make_unique<WorkerPresence>(WorkerPresence::Deps{.clock = ground.clock,
                                                                   .inbox = ground.inbox,
                                                                   .service = *service,
                                                                   .farm_door = farm_door.get(),
                                                                   .launches = *launches,
                                                                   .tables = tables,
                                                                   .log_book = log_book});
  admission.ShowQuarantined();
  presence->Adopt({.workers = ground.options.survivors, .given = ground.options.given_before},
                  ground.options.core.workers, streams.Builder());
  workers.Open();
  return absl::OkStatus();
}

absl::Status WorkerOwners::OpenService() {
  std::map<std::string, std::string> tokens;
  for (const WorkerRecord& survivor : ground.options.survivors)
    tokens.emplace(survivor.worker_id, survivor.token);
  if (ground.options.door != nullptr) {
    service = WorkerService::StartBehind(*ground.options.door, Callbacks(), tokens);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(service, WorkerService::Start(ground.options.socket_path, Callbacks(), tokens));
  return absl::OkStatus();
}

WorkerService::Callbacks WorkerOwners::Callbacks() {
  FiguresBoard* const figures = ground.options.figures;
  return {.on_attach = [this](const std::string& id,
                              const v1::FromWorker& first) { return workers.Attach(id, first); },
          .on_message = [this](const std::string& id, const v1::FromWorker& message,
                               auto is_present) { workers.HearMessage(id, message, is_present); },
          .on_detach =
              [](const std::string& id) {
                // The worker's process decides what follows: the launcher reports its death, and a
                // process that lives attaches again.
                LogInfo("worker={} detached", id);
              },
          .on_question = [this](const v1::PackageQuestion& q) { return cooks.questions.Ask(q); },
          .on_fetch =
              [this, figures](const std::string& id, const v1::FetchRequest& request,
                              const auto& send) {
                return bytes.Fetch(id, request, [&](const v1::FetchPiece& piece) {
                  if (figures != nullptr) figures->CountFetched(piece.bytes().size());
                  return send(piece);
                });
              },
          .on_find_missing =
              [this](const v1::FindMissingRequest& request) { return bytes.FindMissing(request); },
          .on_upload =
              [this, figures](const std::string& id, const auto& next) {
                return bytes.Upload(id, [&](v1::UploadPiece& piece) {
                  if (!next(piece)) return false;
                  if (figures != nullptr) figures->CountUploaded(piece.bytes().size());
                  return true;
                });
              },
          .may_renew = [this](const std::string& id) { return admission.MayRenew(id); }};
}

// The token is made once: workers still use it when a director comes back.
absl::Status WorkerOwners::ListenToFarm() {
  const ShellOptions& options = ground.options;
  const std::string token_file = JoinPath(options.state_directory, kFarmTokenFile);
  ASSIGN_OR_RETURN(const std::string token, KeptToken(token_file));
  service->ExpectForeign(token, [this](std::string_view id) { return tables.attached.IsOurs(id); });
  ASSIGN_OR_RETURN(farm_door,
                   OpenFarmDoor({.address = options.farm_listen,
                                 .tls = options.farm_tls,
                                 .certificate_lifetime = options.farm_certificate_lifetime},
                                service->calls()));
  LogInfo("farm address={} token_file={}", farm_door->address(), token_file);
  return WriteFileAtomic(JoinPath(options.state_directory, kFarmAddressFile),
                         farm_door->address() + "\n");
}

void WorkerOwners::MakeLaunches() {
  const ShellOptions& options = ground.options;
  launches = std::make_unique<Launches>(
      Launches::Options{.worker_program = options.worker_program,
                        .state_directory = options.state_directory,
                        .slots = options.slots,
                        .local_offer = options.core.local_offer,
                        .farm_offer = options.core.fleet.offer,
                        .farm = options.farm_launch},
      Launches::Deps{.service = *service,
                     .farm_door = farm_door.get(),
                     .workers = tables.attached,
                     .views = tables.views,
                     .log_book = log_book,
                     .tell_core = [this](Event event) { ground.inbox.PostEvent(std::move(event)); },
                     .post = [this](Inbox::Task task) { ground.inbox.PostTask(std::move(task)); },
                     .look_at_disk = [this] { cooks.repair.EndIfDiskIsFull(); },
                     .forget = [this](const std::string& worker) { tables.ForgetWorker(worker); },
                     .unstarted =
                         [this](const std::string& reason) {
                           cooks.active.ForEach([&](ActiveCook& cook) {
                             ++cook.outcome.unstarted;
                             cook.outcome.unstarted_reason = reason;
                           });
                         },
                     .held =
                         [this](const std::string& text) {
                           cooks.active.Warn(record::WarningKind::kWorkerHeld, text);
                         }});
}

void WorkerOwners::CloseDoors() {
  service->Stop();
  for (const WorkerStatus& worker : tables.views.All()) tables.views.Gone(worker.name);
  if (farm_door == nullptr) return;
  ::unlink(JoinPath(ground.options.state_directory, kFarmAddressFile).c_str());
  farm_door.reset();
}

}  // namespace galley::director
