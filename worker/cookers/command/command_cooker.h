// Command: an external program as a cooker. docs/cookers/command.md describes settings,
// placeholders and the folder in which it runs.
//
// A failure of the program, by exit code or signal, is never a verdict: it may come from the
// machine, memory, or files outside the key, and cannot be told from a judgement on the inputs. Its
// code is FAILED_PRECONDITION: final for this cook, and not kept. Killed for time:
// DEADLINE_EXCEEDED; by SIGKILL that is not ours, or exit code 137, a shell's word for it:
// UNAVAILABLE. A program that ends well and leaves out an output is a verdict (INVALID_ARGUMENT),
// but with {depfile} or {result}, which may be wrong themselves, and on a machine without the
// project: FAILED_PRECONDITION. The source or
// a tool changed while the program ran: the attempt counts for nothing
// (CookContext::CheckUnchanged).
//
// A program that fails and held more memory than it may (rusage): OutOfMemoryError. Galley keeps
// such a failure, and one for time, only when it knows all that the program read. With a depfile or
// {result} it does not: what a program leaves that failed or was killed may not be the whole list.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateCommandCooker();

}  // namespace galley::worker
