// Command: an external program as a cooker. docs/cookers/command.md describes settings,
// placeholders and the folder in which the program runs.
//
// A failure of the program, by exit code or signal, is never a verdict: the failure may come from
// the machine, from memory, or from files outside the key, and cannot be told from a judgement on
// the inputs. Error codes:
// FAILED_PRECONDITION: the program failed. Final for this cook, and not kept. Also a missing output
//   where the missing output is no verdict: with {depfile} or {result}, which may be wrong
//   themselves, and on a machine without the project.
// DEADLINE_EXCEEDED: the program was killed because its time was up.
// UNAVAILABLE: the program was killed by a SIGKILL that is not ours, or ended with exit code 137,
//   which is a shell's word for that signal.
// INVALID_ARGUMENT: the program ended well but left out an output; a verdict.
// OutOfMemoryError: the program failed and held more memory than it may (rusage).
// ABORTED, UNAVAILABLE: the source or a tool changed while the program ran; the attempt counts for
//   nothing (CookContext::CheckUnchanged).
//
// Galley keeps a failure for memory or for time only when it knows everything that the program
// read. With a depfile or {result} Galley does not know: the list that a failed or killed program
// leaves may be incomplete.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateCommandCooker();

}  // namespace galley::worker
