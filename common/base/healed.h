// Healed: what this process found damaged, of the files that Galley wrote, and has put right or
// made anew. It is told once to the person whose command met it, not only to a log.
//
// A file that is only a memory (a cache, an index, a list that is derived again) is put right where
// it is read, deep below a command; so what was done is noted here, and whoever talks to people
// takes the notes: `galley cook` makes warnings of them, other commands print them when they end.
//
//   NoteHealed(fmt::format("{}: its checksum is wrong; moved aside to {}, the cookers were asked "
//                          "again", file, aside));
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

namespace galley {

// A whole sentence without a full stop, that begins with the file and says what was wrong, what was
// done, and for long work how long it took. It goes to the log, too (as information: where there is
// no log file, the person reads it once). One that was noted before in this process is not noted
// again.
void NoteHealed(const std::string& text);

// The notes since the last call, in their order.
std::vector<std::string> TakeHealed();

}  // namespace galley
