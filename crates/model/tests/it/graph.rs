//! Runs an ONNX graph op by op as specified, with numbers of 64 bits. The test that includes it has the messages as `proto`.

use crate::proto::{BOOL, FLOAT, INT64, Model, Node};
use adept_model::{Channel, ChannelKind, Program, Rows};
use std::collections::HashMap;

/// A tensor; integers and booleans are stored as numbers.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f64>,
}

impl Array {
    fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { shape: self.shape.clone(), data: self.data.iter().map(|v| f(*v)).collect() }
    }

    /// Entry of this array that broadcasting puts at `at` of the result.
    fn at(&self, at: &[usize]) -> f64 {
        let skip = at.len() - self.shape.len();
        let mut i = 0;
        for (n, k) in self.shape.iter().zip(&at[skip..]) {
            i = i * n + if *n == 1 { 0 } else { *k };
        }
        self.data[i]
    }
}

fn places(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |all, &n| {
        all.iter().flat_map(|at| (0..n).map(move |k| [&at[..], &[k]].concat())).collect()
    })
}

fn broadcast(arrays: &[&Array], f: impl Fn(&[f64]) -> f64) -> Array {
    let rank = arrays.iter().map(|a| a.shape.len()).max().unwrap();
    let mut shape = vec![1; rank];
    for array in arrays {
        for (k, n) in array.shape.iter().rev().enumerate() {
            let to = &mut shape[rank - 1 - k];
            assert!(*n == *to || *n == 1 || *to == 1, "{:?} and {shape:?}", array.shape);
            *to = (*to).max(*n);
        }
    }
    let value = |at: Vec<usize>| f(&arrays.iter().map(|a| a.at(&at)).collect::<Vec<_>>());
    Array { data: places(&shape).into_iter().map(value).collect(), shape }
}

fn attribute(node: &Node, name: &str, usual: i64) -> i64 {
    node.attribute.iter().find(|a| a.name == name).map_or(usual, |a| a.i.unwrap())
}

fn run_node(node: &Node, x: &[&Array]) -> Array {
    let truth = |b: bool| f64::from(u8::from(b));
    match node.op_type.as_str() {
        "Identity" => x[0].clone(),
        "Tanh" => x[0].map(f64::tanh),
        "Sigmoid" => x[0].map(|v| 1.0 / (1.0 + (-v).exp())),
        "Neg" => x[0].map(|v| -v),
        "Exp" => x[0].map(f64::exp),
        "Relu" => x[0].map(|v| v.max(0.0)),
        "Add" => broadcast(x, |v| v[0] + v[1]),
        "Mul" => broadcast(x, |v| v[0] * v[1]),
        "Sub" => broadcast(x, |v| v[0] - v[1]),
        "Abs" => x[0].map(f64::abs),
        "Sign" => x[0].map(|v| if v == 0.0 { 0.0 } else { v.signum() }),
        "Sqrt" => x[0].map(f64::sqrt),
        "Log" => x[0].map(f64::ln),
        "MatMul" => {
            let (k, m) = (x[1].shape[0], x[1].shape[1]);
            let dot = |row: &[f64], c: usize| (0..k).map(|i| row[i] * x[1].data[i * m + c]).sum::<f64>();
            let data = x[0].data.chunks(k).flat_map(|row| (0..m).map(move |c| (row, c)));
            Array { shape: vec![x[0].shape[0], m], data: data.map(|(row, c)| dot(row, c)).collect() }
        }
        "Div" => broadcast(x, |v| v[0] / v[1]),
        "Greater" => broadcast(x, |v| truth(v[0] > v[1])),
        "Equal" => broadcast(x, |v| truth(v[0] == v[1])),
        "Where" => broadcast(x, |v| if v[0] != 0.0 { v[1] } else { v[2] }),
        "Clip" => broadcast(x, |v| v[0].clamp(v[1], v[2])),
        "Cast" => match attribute(node, "to", 0) as i32 {
            BOOL => x[0].map(|v| truth(v != 0.0)),
            FLOAT => x[0].clone(),
            other => panic!("cast to {other}"),
        },
        "Gemm" => {
            let (n, k, m) = (x[0].shape[0], x[0].shape[1], x[1].shape[1]);
            assert_eq!((x[1].shape[0], &x[2].shape[..]), (k, &[m][..]));
            let dot =
                |r: usize, c: usize| (0..k).map(|i| x[0].data[r * k + i] * x[1].data[i * m + c]).sum::<f64>();
            let data =
                (0..n).flat_map(|r| (0..m).map(move |c| (r, c))).map(|(r, c)| dot(r, c) + x[2].data[c]);
            Array { shape: vec![n, m], data: data.collect() }
        }
        "Softmax" => {
            assert_eq!(attribute(node, "axis", -1), 1);
            let exp = x[0].map(f64::exp);
            let sums: Vec<f64> = exp.data.chunks(x[0].shape[1]).map(|row| row.iter().sum()).collect();
            broadcast(&[&exp, &Array { shape: vec![sums.len(), 1], data: sums }], |v| v[0] / v[1])
        }
        "Concat" => {
            assert_eq!(attribute(node, "axis", 0), 1);
            let (n, m) = (x[0].shape[0], x.iter().map(|a| a.shape[1]).sum());
            let row = |r: usize| x.iter().flat_map(move |a| a.data[r * a.shape[1]..][..a.shape[1]].to_vec());
            Array { shape: vec![n, m], data: (0..n).flat_map(row).collect() }
        }
        "ReduceSum" => {
            assert_eq!(x[1].data, [1.0]);
            let (n, m) = (x[0].shape[0], x[0].shape[1]);
            let inner: usize = x[0].shape[2..].iter().product();
            let sum = |r: usize, k: usize| (0..m).map(|i| x[0].data[(r * m + i) * inner + k]).sum();
            let data = (0..n).flat_map(|r| (0..inner).map(move |k| (r, k))).map(|(r, k)| sum(r, k)).collect();
            let keep = (attribute(node, "keepdims", 1) == 1).then_some(1);
            Array {
                shape: [n].into_iter().chain(keep).chain(x[0].shape[2..].iter().copied()).collect(),
                data,
            }
        }
        "ArgMax" => {
            assert_eq!((attribute(node, "axis", 0), attribute(node, "keepdims", 1)), (1, 1));
            let first =
                |row: &[f64]| (0..row.len()).rev().max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap() as f64;
            let data: Vec<f64> = x[0].data.chunks(x[0].shape[1]).map(first).collect();
            Array { shape: vec![data.len(), 1], data }
        }
        "Unsqueeze" => {
            assert_eq!(x[1].data, [2.0]);
            Array { shape: [&x[0].shape[..], &[1]].concat(), data: x[0].data.clone() }
        }
        "Reshape" => {
            let given = x[1].data.iter().enumerate();
            let shape = given.map(|(i, &n)| if n == 0.0 { x[0].shape[i] } else { n as usize }).collect();
            Array { shape, data: x[0].data.clone() }
        }
        "Gather" if attribute(node, "axis", 0) == 1 => {
            assert_eq!((&x[1].shape[..], x[0].shape.len()), (&[1][..], 2));
            let column = x[1].data[0] as usize;
            let data: Vec<f64> = x[0].data.chunks(x[0].shape[1]).map(|row| row[column]).collect();
            Array { shape: vec![data.len(), 1], data }
        }
        "Gather" => {
            assert_eq!((attribute(node, "axis", 0), x[0].shape.len()), (0, 1));
            x[1].map(|i| x[0].data[i as usize])
        }
        "GatherElements" => {
            assert_eq!(attribute(node, "axis", 0), 1);
            let (m, rows) = (x[0].shape[1], x[1].data.iter().enumerate());
            Array {
                shape: x[1].shape.clone(),
                data: rows.map(|(r, &i)| x[0].data[r * m + i as usize]).collect(),
            }
        }
        "GatherND" => {
            let batched = attribute(node, "batch_dims", 0) == 1;
            let width = *x[0].shape.last().unwrap();
            let entries = if batched { x[0].shape[1] } else { 0 };
            let rows = x[1]
                .data
                .iter()
                .enumerate()
                .flat_map(|(r, &i)| x[0].data[(r * entries + i as usize) * width..][..width].to_vec());
            Array { data: rows.collect(), shape: vec![x[1].shape[0], width] }
        }
        other => panic!("{other}"),
    }
}

/// All outputs of the graph by name.
pub(crate) fn run_graph(model: &Model, mut known: HashMap<String, Array>) -> HashMap<String, Array> {
    let graph = model.graph.as_ref().unwrap();
    for tensor in &graph.initializer {
        let data = match tensor.data_type {
            FLOAT => {
                tensor.raw_data.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect()
            }
            INT64 => tensor.raw_data.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b) as f64).collect(),
            other => panic!("type {other}"),
        };
        let shape = tensor.dims.iter().map(|&n| n as usize).collect();
        assert!(known.insert(tensor.name.clone(), Array { shape, data }).is_none(), "{} twice", tensor.name);
    }
    for node in &graph.node {
        let inputs: Vec<&Array> = node.input.iter().map(|name| &known[name]).collect();
        let out = run_node(node, &inputs);
        assert!(known.insert(node.output[0].clone(), out).is_none(), "{} twice", node.output[0]);
    }
    graph.output.iter().map(|o| (o.name.clone(), known[&o.name].clone())).collect()
}

/// The inputs of the graph of a program by name.
pub(crate) fn inputs(program: &Program, rows: &Rows) -> HashMap<String, Array> {
    let n = rows.len();
    let channels = program.channels.iter().zip(&program.layout.offsets);
    let one = |(channel, &first): (&Channel, &usize)| {
        let width = channel.kind.dense_width();
        let data: Vec<f64> = match channel.kind {
            ChannelKind::Index(_) => (0..n).map(|r| rows.index_row(r)[first] as f64).collect(),
            _ => {
                (0..n).flat_map(|r| &rows.dense_row(r)[first..first + width]).map(|v| f64::from(*v)).collect()
            }
        };
        (channel.name.to_string(), Array { shape: vec![n, width.max(1)], data })
    };
    channels.map(one).collect()
}
