import Foundation
import ModelTesting
import TestSupport
import Testing

/// Random programs on the tree over a store in a file, compared with the model step by step.
@Suite struct TreeTests {
    @Test("The tree does what the model says")
    func agrees() throws {
        let run = ModelRun(programs: TestLane.current == .quick ? 2 : 12, length: 300, suite: "TreeTests")
        try run.compare(Comparison(valueLimit: StoredTree.valueLimit) { try StoredTree() }, [.wait, .disk])
    }
}

/// Programs on a real mount, with separate processes and a daemon that is killed.
@Suite struct MountTests {
    @Test("A mount does what the model says")
    func agrees() throws {
        let run = ModelRun(programs: 4, length: 100, suite: "MountTests")
        try run.compare(Comparison(valueLimit: MountedTree.valueLimit) { try MountedTree() }, [])
    }
}
