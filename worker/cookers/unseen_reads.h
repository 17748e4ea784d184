// UnseenReads: a second interface of a CookContext that keeps track of an attempt's looks. A
// program reads files at their places, and Galley learns of some of them only from what the program
// says at its end.
#pragma once

namespace galley::worker {

class UnseenReads {
 public:
  virtual ~UnseenReads() = default;
  // True: a program runs that has not told its reads yet: if the attempt fails or is killed now,
  // not all its looks are known. False: the program ended well and has told its reads.
  virtual void SetReadsUnseen(bool are_unseen) = 0;
};

}  // namespace galley::worker
