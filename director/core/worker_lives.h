// WorkerLives: workers start, attach, fall silent and are lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "director/core/core_figures.h"
#include "director/core/part.h"
#include "director/core/worker_table.h"

namespace galley::director {

class WorkerLives : Part {
 public:
  explicit WorkerLives(Core& core) : Part(core) {}

  void OnWorkerAttached(const WorkerAttached& event);
  void OnWorkerLost(const WorkerLost& event);
  void OnWorkerPending(const WorkerPending& event);
  void OnWorkerUploads(const WorkerUploads& event);
  void OnWorkerUnfit(const WorkerUnfit& event);
  void OnDrainAsked(const DrainAsked& event);
  void OnWorkerAlive(const WorkerAlive& event);
  void OnLauncherReported(const LauncherReported& event);
  void LoseTheSilent();
  // A cook begins: workers that did not start for the one before may start for this one. And what a
  // failed commit left with them may be durable this time.
  void BeginCook();

 private:
  void NoteUploading(WorkerId worker, AttemptId attempt);
  void CountSpawnFailure(const std::string& error);
  void CountLaunchFailure(absl::Duration asked_at, const std::string& error, bool is_unfit = false);
  // Where none of those that are attached ever worked, others would be lost as well.
  void EndIfAllAreLost(const std::string& reason);
};

}  // namespace galley::director
