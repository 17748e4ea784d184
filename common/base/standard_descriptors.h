// Standard input, output and error of a program: they are there, whatever a caller closed. Without
// this the first files that the program opens get the numbers 0 to 2, and whatever it prints is
// written into them.
#pragma once

namespace galley {

// Opens /dev/null, for reading, in place of each of the three that is closed: to print there is an
// error, as before. The first thing that a program does;
// before any other file is opened, and before other threads are started.
void OpenStandardDescriptors();

}  // namespace galley
