// Repairs: notes of damaged files that Galley wrote and this process has repaired or derived again.
// The person who ran the command is told once, not only the log.
//
// A file that can be derived again, such as a cache, is repaired where it is read, deep below a
// command. The repair is noted here, and whoever talks to people takes the notes: `galley cook`
// makes warnings of them, other commands print them when they end.
//
//   NoteRepair(fmt::format("{}: its checksum is wrong; moved aside to {}, the cookers were asked "
//                          "again", file, aside));
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

namespace galley {

// `text`: a sentence without a full stop that begins with the file and tells the damage, the
// repair, and for long work its duration. The text is also logged, as information, so that people
// without a log file read it once. A text that was noted before is ignored.
void NoteRepair(const std::string& text);

// The notes since the last call, in order.
std::vector<std::string> TakeRepairs();

}  // namespace galley
