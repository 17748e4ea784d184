// OpenStandardDescriptors: makes sure that standard input, output and error are open, even if the
// caller closed them. Otherwise the first files that the program opens get the numbers 0 to 2, and
// what the program prints is written into these files.
#pragma once

namespace galley {

// Opens /dev/null, for reading, in place of each closed descriptor, so that printing there is still
// an error. Called first thing in main, before another file is opened or a thread is started.
void OpenStandardDescriptors();

}  // namespace galley
